// The declarations of the guide of heed/view that give its elements types in the markup of frameworks, and programs that
// use them.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const guide = readFileSync(join(import.meta.dirname, "../../../web/guides/view.md"), "utf8");

/** The guide's declarations, by the framework's name. */
export const declarations = Object.fromEntries(
  [...guide.matchAll(/<!-- types: (\w+)\/heed\.d\.ts -->\n```ts\n(.*?)^```$/gms)].map(
    ([, name, code]) => [name as string, code as string] as const,
  ),
);

const jsx = (attributes: string, on: string) => `
  import type { HeedHeads, HeedSteps } from "heed/view";
  const w = new Float32Array(4);
  const words: readonly string[] = ["I", "see"];
  export const good = [
    <heed-matrix data={w} shape={[2, 2]} tokens={words} mask="causal" locked={null} ${attributes} />,
    <heed-matrix data={[[1, 0], [0.25, 0.75]]} theme={undefined} id="a" tabIndex={0} />,
    <heed-matrix ${on}heed-hover={({ detail }) => detail?.value.toFixed(2)} />,
    <heed-lines mass={0.5} layer={1} head={2} />,
    <heed-tokens direction="to" row={1} />,
    <heed-heads order="entropy" view="lines" ref={(element: HeedHeads | null) => void element?.svgOfAll()} />,
    <heed-steps q={[[1]]} k={[[1]]} v={[[1]]} step={3} playing ref={(element: HeedSteps | null) => void element?.steps} />,
    <heed-steps ${on}heed-step={({ detail }) => detail.stage === "scores"} />,
  ];
  // @ts-expect-error: a text is not a number
  export const step = <heed-steps step="three" />;
  // @ts-expect-error: there is no such range
  export const range = <heed-matrix range="column" />;
  // @ts-expect-error: it can only be read
  export const steps = <heed-steps steps={3} />;
  // @ts-expect-error: it is a method
  export const svg = <heed-matrix svg={() => ""} />;
  // @ts-expect-error: only <heed-lines> and <heed-heads> have it
  export const mass = <heed-matrix mass={0.5} />;
  // @ts-expect-error: a matrix is no number
  export const data = <heed-matrix data={3} />;
  // @ts-expect-error: the event tells of a step
  export const told = <heed-steps ${on}heed-step={({ detail }) => detail.row} />;
  // @ts-expect-error: there is no such element
  export const other = <heed-matrices />;`;

/** The same of types that no JSX reads. */
const typed = (markup: string) => `
  type Markup = ${markup};
  const w = new Float32Array(4);
  export const good: Markup["heed-matrix"] = { data: w, shape: [2, 2], mask: "causal", id: "a" };
  export const steps: Markup["heed-steps"] = { q: [[1]], k: [[1]], v: [[1]], step: 3 };
  // @ts-expect-error: there is no such range
  export const range: Markup["heed-matrix"] = { range: "column" };
  // @ts-expect-error: it can only be read
  export const read: Markup["heed-steps"] = { steps: 3 };
  // @ts-expect-error: only <heed-lines> and <heed-heads> have it
  export const mass: Markup["heed-matrix"] = { mass: 0.5 };`;

/** A program for each framework, and where its JSX is from. */
export const uses: Record<string, { readonly program: string; readonly jsx?: string }> = {
  react: { program: jsx('key="a" className="b"', "on"), jsx: "react" },
  preact: { program: jsx('key="a" class="b"', "on"), jsx: "preact" },
  solid: { program: jsx('class="b"', "on:"), jsx: "solid-js" },
  vue: {
    program: `
      import type { GlobalComponents } from "vue";
      ${typed(`{ [Tag in "heed-matrix" | "heed-steps"]: InstanceType<GlobalComponents[Tag]>["$props"] }`)}
      declare const emit: InstanceType<GlobalComponents["heed-matrix"]>["$emit"];
      emit("heed-hover", new CustomEvent("heed-hover", { detail: null }));
      // @ts-expect-error: there is no such event
      emit("heed-hovers", new CustomEvent("heed-hovers"));`,
  },
  svelte: {
    program: `
      import type { SvelteHTMLElements } from "svelte/elements";
      ${typed("SvelteHTMLElements")}
      export const heard: Markup["heed-matrix"] = { "onheed-hover": ({ detail }) => detail?.value };`,
  },
};

/** The files of a project that compiles one of them. */
export function projectOf(name: string): Record<string, string> {
  const { program, jsx } = uses[name] as (typeof uses)[string];
  const compilerOptions = {
    ...{
      target: "ES2022",
      module: "ESNext",
      moduleResolution: "Bundler",
      strict: true,
      skipLibCheck: true,
    },
    ...{ exactOptionalPropertyTypes: true, noEmit: true, types: [], lib: ["ES2022", "DOM"] },
    ...(jsx && { jsx: name === "solid" ? "preserve" : "react-jsx", jsxImportSource: jsx }),
  };
  return {
    "heed.ts": declarations[name] as string,
    "use.tsx": program,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["heed.ts", "use.tsx"] }),
  };
}
