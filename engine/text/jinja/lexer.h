#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::text::jinja {

enum class TokenType {
    Data,           ///< text outside tags
    VariableBegin,  ///< {{
    VariableEnd,
    BlockBegin,  ///< {%
    BlockEnd,
    Name,
    String,  ///< decoded, one literal
    Integer,
    Float,
    Operator,
    End,
};

struct Token {
    TokenType type = TokenType::End;
    std::string text;
    int line = 0;
};

/// Splits a template as Jinja2 does with trim_blocks and lstrip_blocks. Throws TemplateError.
std::vector<Token> tokenize(std::string_view source);

}  // namespace hearth::text::jinja
