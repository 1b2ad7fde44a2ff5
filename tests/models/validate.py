"""Checks requests of chartc with the types that the providers' own Python packages have for them.

Reads lines of JSON, `{"provider": …, "question": …, "path": …, "body": …}`, from a file, and names each request that a type refuses.
"""

import json
import sys
from collections.abc import Iterator, Mapping

import ollama._types
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter


def unknown(keys, known, where):
    for key in sorted(set(keys) - set(known)):
        raise ValueError(f"{where} has no `{key}`")


def exhausted(value):
    """Walks through everything: what is declared as an iterable is validated only when it is read."""
    if isinstance(value, Mapping):
        return {key: exhausted(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
        return [exhausted(inner) for inner in value]
    return value


def typed(params):
    adapter = TypeAdapter(params)
    known = params.__annotations__ | {
        key: None for base in getattr(params, "__orig_bases__", ()) for key in base.__annotations__
    }

    def check(body):
        unknown(body, known, params.__name__)
        exhausted(adapter.validate_python(body))

    return check


def check_gemini(body):
    unknown(body, ["contents", "systemInstruction", "generationConfig"], "a request")
    for content in [*body["contents"], body["systemInstruction"]]:
        gemini.Content.model_validate(content)
    gemini.GenerationConfig.model_validate(body["generationConfig"])


def check_ollama(body):
    request, options = ollama._types.ChatRequest, ollama._types.Options
    unknown(body, request.model_fields, "ChatRequest")
    unknown(body["options"], options.model_fields, "Options")
    request.model_validate(body)
    options.model_validate(body["options"])


CHECKS = {
    "openai": ("chat/completions", typed(CompletionCreateParamsNonStreaming)),
    "anthropic": ("messages", typed(MessageCreateParamsNonStreaming)),
    "gemini": (":generateContent", check_gemini),
    "ollama": ("/api/chat", check_ollama),
}


def main():
    count, refused = 0, 0
    for line in open(sys.argv[1], encoding="utf-8"):
        request = json.loads(line)
        end, check = CHECKS[request["provider"]]
        count += 1
        try:
            if not request["path"].endswith(end):
                raise ValueError(f"the path is {request['path']}")
            check(request["body"])
        except ValueError as why:
            refused += 1
            print(f"{request['provider']}, {request['question']}: {why}\n{json.dumps(request['body'])}")
    print(f"{count} requests, {refused} refused")
    sys.exit(refused > 0 or count == 0)


main()
