/** The formula of each stage, in MathML. Its letters highlight the matrices that they represent. */

import type { Role } from "heed/view/parts";
import type { ComponentChildren, JSX } from "preact";
import type { MatrixName } from "./matrices";
import type { StageName } from "./stageNames";
import type { SentenceAttention, State } from "./state";

function Maths({ children }: { children: ComponentChildren }) {
  return <math display="block">{children}</math>;
}

/** A letter with a subscript, in its role's colour. */
function Sub({
  base,
  sub,
  of,
  highlights,
}: {
  base: string;
  sub: ComponentChildren;
  of?: Role;
  highlights?: MatrixName;
}) {
  return (
    <msub class={of && `role-${of}`} data-highlights={highlights}>
      <mi>{base}</mi>
      {typeof sub === "string" ? <mi>{sub}</mi> : sub}
    </msub>
  );
}

const rowAndCol = (row: string, col: string) => (
  <mrow>
    <mi>{row}</mi>
    <mi>{col}</mi>
  </mrow>
);

function SumOver({ index }: { index: string }) {
  return (
    <munder>
      <mo>∑</mo>
      <mrow>
        {/* Space between the index and the sum sign. */}
        <mspace width="0" height="0.9em" />
        <mi>{index}</mi>
      </mrow>
    </munder>
  );
}

/** Q, K or V as a projection of X, or of the second sentence's X′. */
function Projection({ of, second }: { of: "q" | "k" | "v"; second: boolean }) {
  const name = of.toUpperCase();
  return (
    <mrow>
      <mi class={`role-${of}`} data-highlights={of}>
        {name}
      </mi>
      <mo>=</mo>
      {second ? (
        <msup data-highlights="keyInput">
          <mi>X</mi>
          <mo>′</mo>
        </msup>
      ) : (
        <mi data-highlights="input">X</mi>
      )}
      <Sub base="W" sub={name} of={of} highlights={`w${of}`} />
    </mrow>
  );
}

function QueriesTimesKeys() {
  return (
    <>
      <mi class="role-q" data-highlights="q">
        Q
      </mi>
      <msup class="role-k" data-highlights="k">
        <mi>K</mi>
        <mi mathvariant="normal">T</mi>
      </msup>
    </>
  );
}

/** Entry 2n or 2n + 1 of the positional encoding of position i. */
function Wave({ offset, name, size }: { offset: 0 | 1; name: string; size: number }) {
  const even = (
    <mrow>
      <mn>2</mn>
      <mi>n</mi>
    </mrow>
  );
  return (
    <Maths>
      <msub>
        <mi>P</mi>
        <mrow>
          <mi>i</mi>
          <mo>,</mo>
          {even}
          {offset === 1 && (
            <>
              <mo>+</mo>
              <mn>1</mn>
            </>
          )}
        </mrow>
      </msub>
      <mo>=</mo>
      <mi>{name}</mi>
      <mfrac>
        <mi>i</mi>
        <msup>
          <mn>10000</mn>
          <mrow>
            {even}
            <mo>/</mo>
            <mn>{size}</mn>
          </mrow>
        </msup>
      </mfrac>
    </Maths>
  );
}

export const stageFormulas: Record<
  StageName,
  (state: State, attention: SentenceAttention) => JSX.Element
> = {
  tokens: (_, attention) => (
    <Maths>
      <Sub base="t" sub={<mn>1</mn>} />
      <mo>,</mo>
      <mo>…</mo>
      <mo>,</mo>
      <Sub base="t" sub="L" />
      <mspace width="1em" />
      <mi>L</mi>
      <mo>=</mo>
      <mn>{attention.queries.tokens.length}</mn>
    </Maths>
  ),
  embedding: (state, attention) => (
    <>
      <Maths>
        <mi data-highlights="input">X</mi>
        <mo>=</mo>
        <mi data-highlights="embedding">E</mi>
        {state.position && (
          <>
            <mo>+</mo>
            <mi data-highlights="position">P</mi>
          </>
        )}
      </Maths>
      {state.position && (
        <>
          <Wave offset={0} name="sin" size={attention.embeddingSize} />
          <Wave offset={1} name="cos" size={attention.embeddingSize} />
        </>
      )}
    </>
  ),
  qkv: (_, attention) => (
    <Maths>
      <Projection of="q" second={false} />
      <mspace width="1em" />
      <Projection of="k" second={attention.cross} />
      <mspace width="1em" />
      <Projection of="v" second={attention.cross} />
    </Maths>
  ),
  scores: () => (
    <Maths>
      <msub data-highlights="scores">
        <mrow>
          <mo>(</mo>
          <QueriesTimesKeys />
          <mo>)</mo>
        </mrow>
        {rowAndCol("i", "j")}
      </msub>
      <mo>=</mo>
      <SumOver index="c" />
      <Sub base="q" sub={rowAndCol("i", "c")} of="q" highlights="q" />
      <Sub base="k" sub={rowAndCol("j", "c")} of="k" highlights="k" />
    </Maths>
  ),
  scaled: (state, attention) => (
    <Maths>
      <mi data-highlights="scaled">S</mi>
      <mo>=</mo>
      <mfrac>
        <mrow data-highlights="scores">
          <QueriesTimesKeys />
        </mrow>
        <mrow>
          {state.scaled ? (
            <msqrt>
              <mn>{attention.headSize}</mn>
            </msqrt>
          ) : (
            <mn>1</mn>
          )}
          {state.temperature !== 1 && (
            <>
              <mo>·</mo>
              <mn>{state.temperature}</mn>
            </>
          )}
        </mrow>
      </mfrac>
    </Maths>
  ),
  masked: () => (
    <Maths>
      <Sub base="M" sub={rowAndCol("i", "j")} highlights="masked" />
      <mo>=</mo>
      <Sub base="S" sub={rowAndCol("i", "j")} highlights="scaled" />
      <mtext>&nbsp;if&nbsp;</mtext>
      <mi>i</mi>
      <mtext>&nbsp;may see&nbsp;</mtext>
      <mi>j</mi>
      <mtext>, else&nbsp;</mtext>
      <mo>−</mo>
      <mi mathvariant="normal">∞</mi>
    </Maths>
  ),
  weights: () => (
    <Maths>
      <Sub base="a" sub={rowAndCol("i", "j")} highlights="weights" />
      <mo>=</mo>
      <mfrac>
        <msup data-highlights="exponentials">
          <mi>e</mi>
          <Sub base="M" sub={rowAndCol("i", "j")} highlights="masked" />
        </msup>
        <mrow data-highlights="exponentials">
          <SumOver index="n" />
          <msup>
            <mi>e</mi>
            <Sub base="M" sub={rowAndCol("i", "n")} />
          </msup>
        </mrow>
      </mfrac>
    </Maths>
  ),
  output: () => (
    <Maths>
      <Sub base="o" sub="i" of="o" highlights="output" />
      <mo>=</mo>
      <SumOver index="j" />
      <Sub base="a" sub={rowAndCol("i", "j")} highlights="weights" />
      <Sub base="v" sub="j" of="v" highlights="v" />
    </Maths>
  ),
  joined: (state, attention) =>
    state.example ? (
      <Maths>
        <mi class="role-o" data-highlights="joined">
          C
        </mi>
        <mo>=</mo>
        <mi class="role-o" data-highlights="output">
          O
        </mi>
      </Maths>
    ) : (
      <Maths>
        <mi class="role-o" data-highlights="joined">
          C
        </mi>
        <mo>=</mo>
        <mrow>
          <mo>[</mo>
          <Sub base="O" sub={<mn>1</mn>} of="o" />
          {attention.heads > 2 && <mo>…</mo>}
          {attention.heads > 1 && <Sub base="O" sub={<mn>{attention.heads}</mn>} of="o" />}
          <mo>]</mo>
        </mrow>
        <mspace width="1em" />
        <mi class="role-o" data-highlights="result">
          Y
        </mi>
        <mo>=</mo>
        <mi class="role-o" data-highlights="joined">
          C
        </mi>
        <Sub base="W" sub="O" of="o" highlights="wo" />
      </Maths>
    ),
};
