#pragma once

/// The tensor types that llama.cpp gives models of these shapes (llama_model_quantize of llama-cpp-python 0.3.36, nothing
/// but the file type set): most tensors `base`, and what `others` lists: tensor, type, layers (none: all).
/// One-dimensional tensors stay F32 everywhere.
namespace hearth::made {

struct PeerMix {
    const char *shape, *file_type, *base, *others;
};

constexpr PeerMix kPeerMixes[] = {
    {"dense16", "Q4_0", "Q4_0", "output Q6_K"},
    {"dense16", "Q8_0", "Q8_0", ""},
    {"dense16", "Q5_1", "Q5_1", "output Q6_K"},
    {"dense16", "Q4_K_S", "Q4_K", "output Q6_K; attn_v Q5_K 0,1,2,3; ffn_down Q5_K 0,1"},
    {"dense16", "Q4_K_M", "Q4_K",
     "output Q6_K; "
     "attn_v Q6_K 0,1,4,7,10,13,14,15; "
     "ffn_down Q6_K 0,1,4,7,10,13,14,15"},
    {"dense16", "Q5_K_M", "Q5_K",
     "output Q6_K; "
     "attn_v Q6_K 0,1,4,7,10,13,14,15; "
     "ffn_down Q6_K 0,1,4,7,10,13,14,15"},
    {"dense16", "Q6_K", "Q6_K", ""},
    {"dense16", "BF16", "BF16", ""},
    {"tied11", "Q4_1", "Q4_1", "token_embd Q6_K"},
    {"tied11", "Q4_K_S", "Q4_K", "token_embd Q6_K; attn_v Q5_K 0,1,2,3; ffn_down Q5_K 0"},
    {"tied11", "Q4_K_M", "Q4_K",
     "token_embd Q6_K; "
     "attn_v Q6_K 0,3,6,9,10; "
     "ffn_down Q6_K 0,3,6,9,10"},
    {"tied11", "Q5_K_M", "Q5_K",
     "token_embd Q6_K; "
     "attn_v Q6_K 0,3,6,9,10; "
     "ffn_down Q6_K 0,3,6,9,10"},
    {"experts8", "Q4_0", "Q4_0", "output Q6_K; attn_k Q8_0; attn_v Q8_0; ffn_gate_inp F32"},
    {"experts8", "Q8_0", "Q8_0", "ffn_gate_inp F32"},
    {"experts8", "Q5_0", "Q5_0", "output Q6_K; attn_k Q8_0; attn_v Q8_0; ffn_gate_inp F32"},
    {"experts8", "Q4_K_S", "Q4_K",
     "output Q6_K; attn_k Q8_0; attn_output Q5_K; attn_v Q8_0; ffn_down_exps Q5_K 0,1; ffn_gate_inp F32"},
    {"experts8", "Q4_K_M", "Q4_K",
     "output Q6_K; attn_k Q8_0; attn_output Q5_K; attn_v Q8_0; "
     "ffn_down_exps Q6_K 0,1,4,7,10,13,14,15; ffn_gate_inp F32"},
    {"experts8", "Q5_K_M", "Q5_K",
     "output Q6_K; attn_k Q8_0; attn_v Q8_0; "
     "ffn_down_exps Q6_K 0,1,4,7,10,13,14,15; ffn_gate_inp F32"},
    {"experts8", "Q6_K", "Q6_K", "attn_k Q8_0; attn_v Q8_0; ffn_gate_inp F32"},
    {"experts8", "F16", "F16", "ffn_gate_inp F32"},
    {"experts4", "Q4_K_M", "Q4_K",
     "output Q6_K; attn_v Q6_K 0,3,6,7,8; ffn_down_exps Q6_K 0,3,6,7,8; ffn_gate_inp F32"},
    {"narrow", "Q4_0", "Q4_0", "output Q8_0"},
    {"narrow", "Q4_K_S", "Q5_0", "output Q8_0; attn_v Q5_1 0,1,2,3; ffn_down Q5_1 0,1"},
    {"narrow", "Q4_K_M", "Q5_0",
     "output Q8_0; "
     "attn_v Q8_0 0,1,4,7,10,13,14,15; "
     "ffn_down Q8_0 0,1,4,7,10,13,14,15"},
    {"narrow", "Q5_K_M", "Q5_1",
     "output Q8_0; "
     "attn_v Q8_0 0,1,4,7,10,13,14,15; "
     "ffn_down Q8_0 0,1,4,7,10,13,14,15"},
    {"narrow", "Q6_K", "Q8_0", ""},
    {"odd", "Q8_0", "F16", ""},
    {"odd", "Q4_K_M", "F16", ""},
};

}  // namespace hearth::made
