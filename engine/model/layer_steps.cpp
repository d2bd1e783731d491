#include "engine/model/layer_steps.h"

namespace hearth::model {

void LayerSteps::layer(uint32_t i) {
    const LayerWeights& l = w_.layers[i];
    const bool parallel = d_.architecture.parallel;
    if (d_.architecture.router_reads_layer_input && d_.expertLayer(i)) route(i, Rows::x);

    const NormWeights& before = l.attn_norm_2 ? l.attn_norm_2 : l.attn_norm;
    if (before) norm(before, Rows::x, Rows::normed);
    const Rows in = before ? Rows::normed : Rows::x;
    if (d_.shapes[i].recurrent) deltaNet(i, in, Rows::branch);
    else if (d_.architecture.latent_attention) latentAttention(i, in, Rows::branch);
    else attention(i, in, Rows::branch);
    if (parallel && l.attn_norm_2) norm(l.attn_norm, Rows::x, Rows::normed);
    if (!parallel) addBranch(Rows::branch, l.attn_post_norm);

    if (l.ffn_norm) norm(l.ffn_norm, Rows::x, Rows::normed);
    feedForward(i, l.ffn_norm || parallel ? Rows::normed : Rows::x, Rows::branch2);
    if (parallel) addBranch(Rows::branch, {});
    addBranch(Rows::branch2, l.ffn_post_norm);
}

void LayerSteps::attention(uint32_t i, Rows from, Rows to) {
    projectHeads(i, from);
    rotateAndStore(i);
    attendHeads(i);
    if (gatedHeads(i)) gateHeads(i);
    projectOutput(i, to);
}

}  // namespace hearth::model
