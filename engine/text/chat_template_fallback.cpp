#include <array>

#include "engine/text/chat_template.h"

/// Templates of our own for the layouts that special tokens give away.
namespace hearth::text {

namespace {

struct Known {
    const char* name;
    std::array<const char*, 2> tokens;  ///< all must be in the vocabulary; nullptr = none
    const char* source;
};

// System text that has no place of its own goes before the first user message.
#define HEARTH_FOLD_SYSTEM                                                 \
    "{%- set state = namespace(system='') -%}"                             \
    "{%- for message in messages -%}{%- if message.role == 'system' -%}"   \
    "{%- set state.system = state.system ~ message.content ~ '\\n\\n' -%}" \
    "{%- endif -%}{%- endfor -%}"

constexpr Known kKnown[] = {
    {"Llama 3",
     {"<|start_header_id|>", "<|eot_id|>"},
     "{{- bos_token -}}{%- for message in messages -%}"
     "<|start_header_id|>{{ message.role }}<|end_header_id|>{{ '\\n\\n' }}{{ message.content | trim }}<|eot_id|>{%- "
     "endfor -%}"
     "{%- if add_generation_prompt -%}<|start_header_id|>assistant<|end_header_id|>{{ '\\n\\n' }}{%- endif -%}"},
    {"Phi-4",
     {"<|im_start|>", "<|im_sep|>"},
     "{%- for message in messages -%}<|im_start|>{{ message.role }}<|im_sep|>{{ message.content }}<|im_end|>{%- endfor "
     "-%}"
     "{%- if add_generation_prompt -%}<|im_start|>assistant<|im_sep|>{%- endif -%}"},
    {"ChatML",
     {"<|im_start|>", "<|im_end|>"},
     "{%- for message in messages -%}<|im_start|>{{ message.role }}{{ '\\n' }}{{ message.content }}<|im_end|>{{ '\\n' "
     "}}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|im_start|>assistant{{ '\\n' }}{%- endif -%}"},
    {"gpt-oss",
     {"<|start|>", "<|channel|>"},
     "{%- for message in messages -%}{%- if message.role == 'assistant' -%}"
     "<|start|>assistant<|channel|>final<|message|>{{ message.content }}<|end|>"
     "{%- else -%}<|start|>{{ message.role }}<|message|>{{ message.content }}<|end|>{%- endif -%}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}"},
    {"Gemma 4",
     {"<|turn>", "<turn|>"},
     "{{- bos_token -}}{%- for message in messages -%}"
     "<|turn>{{ 'model' if message.role == 'assistant' else message.role }}{{ '\\n' }}{{ message.content | trim "
     "}}<turn|>{{ '\\n' }}"
     "{%- endfor -%}{%- if add_generation_prompt -%}<|turn>model{{ '\\n' }}{%- endif -%}"},
    {"Gemma",
     {"<start_of_turn>", "<end_of_turn>"},
     HEARTH_FOLD_SYSTEM
     "{{- bos_token -}}{%- for message in messages if message.role != 'system' -%}"
     "<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}{{ '\\n' }}"
     "{%- if message.role != 'assistant' -%}{{ state.system }}{%- set state.system = '' -%}{%- endif -%}"
     "{{ message.content | trim }}<end_of_turn>{{ '\\n' }}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<start_of_turn>model{{ '\\n' }}{%- endif -%}"},
    {"DeepSeek",
     {"<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>"},
     "{{- bos_token -}}{%- for message in messages -%}{%- if message.role == 'assistant' -%}"
     "<\uff5cAssistant\uff5c>{{ message.content }}{{ eos_token }}{%- elif message.role == 'system' -%}{{ "
     "message.content }}"
     "{%- else -%}<\uff5cUser\uff5c>{{ message.content }}{%- endif -%}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<\uff5cAssistant\uff5c>{%- endif -%}"},
    {"Granite",
     {"<|start_of_role|>", "<|end_of_role|>"},
     "{%- for message in messages -%}<|start_of_role|>{{ message.role }}<|end_of_role|>{{ message.content "
     "}}<|end_of_text|>{{ '\\n' }}"
     "{%- endfor -%}{%- if add_generation_prompt -%}<|start_of_role|>assistant<|end_of_role|>{%- endif -%}"},
    {"Command R",
     {"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"},
     "{{- bos_token -}}{%- for message in messages -%}<|START_OF_TURN_TOKEN|>"
     "{%- if message.role == 'assistant' -%}<|CHATBOT_TOKEN|>{%- elif message.role == 'system' -%}<|SYSTEM_TOKEN|>"
     "{%- else -%}<|USER_TOKEN|>{%- endif -%}{{ message.content | trim }}<|END_OF_TURN_TOKEN|>{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{%- endif -%}"},
    {"GLM-4",
     {"[gMASK]", "<|user|>"},
     "[gMASK]<sop>{%- for message in messages -%}{%- if message.role == 'assistant' -%}<|assistant|>"
     "{%- elif message.role == 'system' -%}<|system|>{%- else -%}<|user|>{%- endif -%}{{ '\\n' }}{{ message.content "
     "}}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|assistant|>{{ '\\n' }}{%- endif -%}"},
    {"Phi-3",
     {"<|user|>", "<|end|>"},
     "{%- for message in messages -%}{%- if message.role == 'assistant' -%}<|assistant|>"
     "{%- elif message.role == 'system' -%}<|system|>{%- else -%}<|user|>{%- endif -%}"
     "{{ '\\n' }}{{ message.content }}<|end|>{{ '\\n' }}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|assistant|>{{ '\\n' }}{%- endif -%}"},
    {"Zephyr",
     {"<|user|>", "<|assistant|>"},
     "{%- for message in messages -%}{%- if message.role == 'assistant' -%}<|assistant|>"
     "{%- elif message.role == 'system' -%}<|system|>{%- else -%}<|user|>{%- endif -%}"
     "{{ '\\n' }}{{ message.content }}{{ eos_token }}{{ '\\n' }}{%- endfor -%}"
     "{%- if add_generation_prompt -%}<|assistant|>{{ '\\n' }}{%- endif -%}"},
    {"Mistral",
     {"[INST]", "[/INST]"},
     HEARTH_FOLD_SYSTEM "{{- bos_token -}}{%- for message in messages if message.role != 'system' -%}{%- if "
                        "message.role == 'assistant' -%}"
                        "{{ message.content }}{{ eos_token }}{%- else -%}[INST]{{ state.system }}{%- set state.system "
                        "= '' -%}{{ message.content }}[/INST]"
                        "{%- endif -%}{%- endfor -%}"},
};

#undef HEARTH_FOLD_SYSTEM

constexpr const char* kPlain =
    "{%- for message in messages -%}{%- if message.role == 'system' -%}{{ message.content }}"
    "{%- elif message.role == 'assistant' -%}Assistant: {{ message.content }}{%- else -%}User: {{ message.content "
    "}}{%- endif -%}"
    "{{ '\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}Assistant:{%- endif -%}";

}  // namespace

FallbackTemplate fallbackTemplate(const std::function<bool(std::string_view)>& has_token) {
    for (const Known& known : kKnown)
        if (has_token && has_token(known.tokens[0]) && has_token(known.tokens[1]))
            return {known.name, known.source, {}};
    return {"plain text", kPlain, {"\nUser:"}};
}

}  // namespace hearth::text
