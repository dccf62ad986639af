// Chat templates: from each file that has one, with the class of @huggingface/jinja, and refusals.

import { Template } from "@huggingface/jinja";
import { type ChatMessage, loadChatTemplate } from "heed/models";
import { describe, expect, test } from "vitest";
import { jsonOf } from "../checkpoints.js";
import { ggufOf } from "../gguf.js";

// The form of the templates of Qwen and SmolLM.
const template =
  "{% for message in messages %}{% if message['role'] == 'tool' %}{{ raise_exception('no tools') }}{% endif %}" +
  "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
const messages: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "What is attention?" },
];
const asked =
  "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is attention?<|im_end|>\n";
const open = "<|im_start|>assistant\n";

describe("A chat template", () => {
  test.each([
    ["tokenizer_config.json", { "tokenizer_config.json": jsonOf({ chat_template: template }) }],
    ["chat_template.jinja", { "chat_template.jinja": new TextEncoder().encode(template) }],
    [
      "a list of templates",
      { "tokenizer_config.json": jsonOf({ chat_template: [{ name: "default", template }] }) },
    ],
  ])("is in %s", async (_, files) => {
    const chat = await loadChatTemplate(files, Template);
    expect(chat(messages)).toBe(asked + open);
    expect(chat(messages, { add_generation_prompt: false })).toBe(asked);
  });

  test("is in a GGUF file, with its tokens", async () => {
    const tokens = { "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["<s>", "a"] };
    const own = "{{ bos_token }}{{ messages[0]['content'] }}{{ name }}";
    const metadata = {
      ...{ "general.architecture": "llama", "llama.embedding_length": 1, "llama.block_count": 1 },
      "llama.attention.head_count": 1,
      "llama.feed_forward_length": 1,
      "llama.context_length": 9,
      ...{ ...tokens, "tokenizer.ggml.bos_token_id": 0, "tokenizer.chat_template": own },
    };
    const table = { type: 0, shape: [2, 1], bytes: new Uint8Array(8), values: new Float32Array(2) };
    const file = ggufOf(metadata, { "token_embd.weight": table });
    const chat = await loadChatTemplate(new Blob([file]), Template);
    expect(chat([{ role: "user", content: "a" }], { name: "b" })).toBe("<s>ab");
  });

  test("has the special tokens of its config, and a name", async () => {
    const list = [
      { name: "default", template: "{{ bos_token }}" },
      { name: "tool_use", template: "{{ eos_token }}!" },
    ];
    const config = { chat_template: list, bos_token: { content: "<s>" }, eos_token: "</s>" };
    const files = { "tokenizer_config.json": jsonOf(config) };
    expect((await loadChatTemplate(files, Template))(messages)).toBe("<s>");
    const named = await loadChatTemplate(files, Template, { name: "tool_use" });
    expect(named(messages)).toBe("</s>!");
    await expect(loadChatTemplate(files, Template, { name: "rag" })).rejects.toMatchObject({
      code: "option",
      message: 'name: expected "default" or "tool_use", got "rag"',
    });
  });

  test.each<[object, string, string]>([
    [
      { "config.json": jsonOf({}) },
      "load",
      "files: expected chat_template.jinja or a chat_template, got config.json",
    ],
    [
      { "tokenizer_config.json": jsonOf({ chat_template: 3 }) },
      "format",
      "chat_template: expected a text or a list of templates, got 3",
    ],
    [
      { "tokenizer_config.json": jsonOf({ chat_template: "{% for %}" }) },
      "format",
      "chat_template: expected a template, got ",
    ],
  ])("is refused: %#", async (files, code, message) => {
    const error = await loadChatTemplate(files as Record<string, Uint8Array>, Template).catch(
      (error) => error,
    );
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(message);
  });

  test("refuses messages that it does not take, and what are none", async () => {
    const chat = await loadChatTemplate(
      { "tokenizer_config.json": jsonOf({ chat_template: template }) },
      Template,
    );
    expect(() => chat([{ role: "tool", content: "" }])).toThrow(
      "messages: expected a conversation that the template takes, got no tools",
    );
    expect(() => chat(["hello"] as never)).toThrow(
      "messages: expected a list of messages { role, content }, got",
    );
    await expect(loadChatTemplate({}, (() => {}) as never)).rejects.toThrow(
      "Template: expected a class of templates",
    );
  });
});
