// Chat templates: the text that a model expects for a conversation. The template is a program in Jinja among the files of
// the model's tokenizer, which a class of an optional peer dependency runs.

import { describe, refuse } from "../core/error.js";
import { parseJson } from "../core/objects.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isListOf,
  isRecord,
  isText,
} from "../core/validate.js";
import type { Folder, ModelSource } from "./sources.js";
import { isTokenizerClass } from "./tokenizer.js";
import { type LoadTokenizerOptions, tokenizerChecks } from "./tokenizerFiles.js";

/** A message of a conversation. */
export interface ChatMessage {
  /** Who speaks: "system", "user" or "assistant" in most templates. */
  readonly role: string;
  /** The text of the message. */
  readonly content: string;
}

/** A class of templates, such as Template of @huggingface/jinja. */
export type TemplateClass = new (
  template: string,
) => { render(variables: Record<string, unknown>): string };

/** Options of `loadChatTemplate`. */
export interface ChatTemplateOptions extends LoadTokenizerOptions {
  /** The name of a template, for a model with several; "default" by default. */
  name?: string;
}

/**
 * Returns the text of a conversation.
 *
 * @param variables others of the template, such as `tools` or `enable_thinking`.
 *   `add_generation_prompt`, true by default, ends the text where the model's answer begins
 * @throws HeedError "option" for messages that the template refuses
 */
export type ChatTemplate = (
  messages: readonly ChatMessage[],
  variables?: Readonly<Record<string, unknown>>,
) => string;

const isTemplateClass: Check = {
  ...isTokenizerClass,
  expected: "a class of templates (in heed/worker, only a task can pass one)",
};

const isMessages: Check = {
  expected: "a list of messages { role, content }",
  accepts: (value) => isListOf(value, (each) => isRecord(each) && isText.accepts(each.role)),
};

/** The names of the special tokens that templates read. */
const tokenNames = ["bos_token", "eos_token", "pad_token", "unk_token"];

/**
 * Loads the chat template of a model, from chat_template.jinja, tokenizer_config.json or a GGUF file.
 *
 *     import { Template } from "@huggingface/jinja";
 *     const chat = await loadChatTemplate("https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct", Template);
 *     const prompt = chat([{ role: "user", content: "What is attention?" }]);
 *
 * @param files the sources that `loadModel` takes
 * @param Template the class of the package @huggingface/jinja, which this package does not contain
 * @throws HeedError "load" for a model without a template, "format" for one that the class does not
 *   know, "option" for a name that the model does not have
 * @example
 * ```ts
 * // A class that knows one template: the text of each message, between the marks of its role.
 * class Marks {
 *   render({ messages }: Record<string, unknown>) {
 *     return (messages as ChatMessage[]).map(({ role, content }) => `<${role}>${content}`).join("") + "<assistant>";
 *   }
 * }
 * const chat = await loadChatTemplate({ "chat_template.jinja": new Blob(["marks"]) }, Marks);
 * console.log(chat([{ role: "user", content: "Hello" }])); // prints: <user>Hello<assistant>
 * ```
 */
export async function loadChatTemplate(
  files: ModelSource,
  Template: TemplateClass,
  options: ChatTemplateOptions = {},
): Promise<ChatTemplate> {
  checkArgument("Template", Template, isTemplateClass);
  checkOptions("loadChatTemplate", options, { ...tokenizerChecks, name: isText });
  const { keep, signal, name = "default" } = options;
  signal?.throwIfAborted();
  const { openFolder, readText } = await import("./sources.js");
  const folder = await openFolder(files, keep, "tokenizer_config.json", signal);
  const textOf = async (file: string) => {
    const found = await folder.open(file, signal);
    return found && readText(found, file, signal);
  };
  const configFile = "tokenizer_config.json";
  const config = parseJson((await textOf(configFile)) ?? "{}", configFile);
  const own = name === "default" ? await textOf("chat_template.jinja") : undefined;
  const source = own ?? templateIn(config.chat_template, name, folder);
  let template: InstanceType<TemplateClass>;
  try {
    template = new Template(source);
  } catch (cause) {
    throw refuse("format", "chat_template", "a template", reasonOf(cause), { cause });
  }
  const tokens = Object.fromEntries(tokenNames.map((key) => [key, tokenIn(config[key])]));
  return (messages, variables = {}) => {
    checkArgument("messages", messages, isMessages);
    const given = { add_generation_prompt: true, ...tokens, ...variables, messages };
    try {
      return template.render(given);
    } catch (cause) {
      const expected = "a conversation that the template takes";
      throw refuse("option", "messages", expected, reasonOf(cause), { cause });
    }
  };
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : describe(error));

/** The text of a special token, which a config has alone or in an object. */
const tokenIn = (value: unknown): string | undefined => {
  const text = isRecord(value) ? value.content : value;
  return typeof text === "string" ? text : undefined;
};

/** The template of a name: the only one, or one of a list. */
function templateIn(given: unknown, name: string, { names }: Folder): string {
  if (given === undefined || given === null) {
    const got = names === undefined ? "none there" : names.join(", ");
    throw refuse("load", "files", "chat_template.jinja or a chat_template", got);
  }
  const list = typeof given === "string" ? [{ name: "default", template: given }] : given;
  const isTemplate = (each: unknown) => isRecord(each) && typeof each.template === "string";
  if (!isListOf<{ name: string; template: string }>(list, isTemplate))
    throw refuse("format", "chat_template", "a text or a list of templates", describe(given));
  const found = list.find((each) => each.name === name);
  if (found) return found.template;
  const known = list.map((each) => describe(each.name)).join(" or ");
  throw refuse("option", "name", known, describe(name));
}
