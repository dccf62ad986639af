/**
 * The properties and attributes of elements, and one update for all changes of a frame. `static rules` of a
 * class has the rule of each property: its initial value, its attribute, and how a value is taken.
 */

import { type HeedError, refuse } from "../../core/error.js";
import { nextFrame, type PageWindow, windowOf } from "../picture/page.js";
import { asHeedError } from "./input.js";
import { commonRules, fromText, type Rule } from "./rules.js";

/** Node has no HTMLElement: the classes can be defined there, but no element can be created. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** A class of elements, as a registry has it. */
interface RuledClass {
  readonly prototype: PropertyElement;
  readonly rules: Readonly<Record<string, Rule>>;
}

const rulesOf = ({ rules }: Pick<RuledClass, "rules">): Readonly<Record<string, Rule>> => ({
  ...commonRules,
  ...rules,
});

/** The value that a program gives to a property. Preact gives an empty text instead of null. */
const given = (value: unknown): unknown => (value === "" ? null : value);

/** An element whose changes show in the next animation frame. */
export abstract class PropertyElement extends Base {
  /** @internal */
  static readonly rules: Readonly<Record<string, Rule>> = {};

  #values = new Map<string, unknown>();
  #taken = new Map<string, unknown>();
  #refusals = new Map<string, HeedError>();
  #changed = new Set<string>();
  #byPerson = new Set<string>();
  /** Cancels the next frame; null if none is requested. */
  #frame: (() => void) | null = null;
  #done: Promise<void> = Promise.resolve();
  #resolve: (() => void) | null = null;
  /**
   * @internal The registry of elements reads this before it creates the first element, so this getter also defines the
   * properties of the class.
   */
  static get observedAttributes(): readonly string[] {
    // biome-ignore lint/complexity/noThisInStatic: the class that is registered, not this one
    const kind = this as unknown as RuledClass;
    const rules = rulesOf(kind);
    for (const [name, rule] of Object.entries(rules)) {
      // A class or its base may define the property itself, and use the rule for the attribute.
      if (name in kind.prototype && !(name in HTMLElement.prototype)) continue;
      Object.defineProperty(kind.prototype, name, {
        configurable: true,
        enumerable: true,
        get(this: PropertyElement) {
          return this.#values.has(name) ? this.#values.get(name) : rule.initial;
        },
        set(this: PropertyElement, value: unknown) {
          this.#set(name, rule, () => given(value));
        },
      });
    }
    return Object.keys(rules);
  }

  /** Resolves when all changes are drawn: in the next animation frame, or immediately without a change. */
  get updateComplete(): Promise<void> {
    return this.#done;
  }

  /** @internal */
  attributeChangedCallback(name: string, _: string | null, text: string | null): void {
    const rule = this.#rules[name] as Rule;
    this.#set(name, rule, () => (text === null ? rule.initial : fromText(rule, name, text)));
  }

  get #rules(): Readonly<Record<string, Rule>> {
    return rulesOf(this.constructor as typeof PropertyElement);
  }

  /** @internal The window that the element is in. */
  protected get page(): PageWindow {
    return windowOf(this);
  }

  #set(name: string, rule: Rule, read: () => unknown): void {
    this.#refusals.delete(name);
    this.#taken.delete(name);
    this.#byPerson.delete(name);
    try {
      const value = read() ?? rule.initial;
      this.#values.set(name, value);
      this.#taken.set(name, rule.take ? rule.take(value, name) : value);
    } catch (error) {
      this.#refusals.set(name, asHeedError(error, name));
    }
    this.requestUpdate(name);
  }

  /** @internal Requests to be drawn in the next animation frame. */
  protected requestUpdate(...names: readonly string[]): void {
    for (const name of names) this.#changed.add(name);
    if (!this.isConnected || this.#frame !== null) return;
    this.#done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#frame = nextFrame(this.page, () => this.updateNow());
  }

  /** @internal Draws all changes now, without waiting for a frame. */
  protected abstract updateNow(): void;

  /** @internal */
  connectedCallback(): void {
    // A property that was set before the class was registered is an own property of the object. It
    // hides the accessor of the class, so it is deleted and set again.
    for (const name of Object.keys(this.#rules)) {
      if (!Object.hasOwn(this, name)) continue;
      const own = this as unknown as Record<string, unknown>;
      const value = own[name];
      delete own[name];
      own[name] = value;
    }
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#cancel()?.();
  }

  /**
   * @internal Returns the names of the changed properties, the first error of a value, and the function that resolves
   * the promise of the next frame; cancels the frame, and forgets the changes.
   */
  protected takeChanges(): [Set<string>, HeedError | undefined, (() => void) | null] {
    const resolve = this.#cancel();
    const changed = this.#changed;
    this.#changed = new Set();
    const [refusal] = this.#refusals.values();
    return [changed, refusal, resolve];
  }

  /** Cancels the next frame. Returns the function that resolves the promise of that frame. */
  #cancel(): (() => void) | null {
    this.#frame?.();
    this.#frame = null;
    const resolve = this.#resolve;
    this.#resolve = null;
    return resolve;
  }

  /** @internal The value of a property after its rule. Throws the rule's error if the value does not fit. */
  protected taken<T>(name: string): T {
    const refusal = this.#refusals.get(name);
    if (refusal) throw refusal;
    if (this.#taken.has(name)) return this.#taken.get(name) as T;
    return this.#rules[name]?.initial as T;
  }

  /**
   * @internal Sets a property that a person chose in the picture. If new data does not fit the value, a person's choice
   * is reset, but a program's value is an error.
   */
  protected setByPerson(name: string, value: unknown): void {
    Object.assign(this, { [name]: value });
    this.#byPerson.add(name);
  }

  /** @internal Stores the value of a property that the class itself defines. */
  protected keep(name: string, value: unknown): void {
    this.#set(name, this.#rules[name] as Rule, () => given(value));
  }

  /** @internal Whether a person's choice is outside the data. Throws if a program chose it. */
  protected isLost(name: string, isOutside: boolean, expected: string, got: string): boolean {
    if (isOutside && !this.#byPerson.has(name)) throw refuse("option", name, expected, got);
    return isOutside;
  }
}
