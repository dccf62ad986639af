/** The person's own series: pasted, typed, or from a file. */
import { useId, useState } from "preact/hooks";
import { FileField } from "../FileField";
import type { OwnProps } from "../state";
import { fewestValues, mostValues, type OwnSeries, ownSeriesOf, SeriesError } from "./ownSeries";

export function OwnSeriesFields({ own, onOwn }: Pick<OwnProps<OwnSeries>, "own" | "onOwn">) {
  const [text, setText] = useState("");
  const [message, setMessage] = useState<string | null>(own?.note ?? null);
  const show = (series: OwnSeries | null, message: string | null) => {
    setMessage(message);
    onOwn(series);
  };
  const type = (text: string) => {
    setText(text);
    if (text.trim() === "") return show(null, null);
    try {
      const series = ownSeriesOf(text);
      show(series, series.note);
    } catch (error) {
      if (!(error instanceof SeriesError)) throw error;
      // Removes the earlier series, because the new text is not that series.
      show(null, error.message);
    }
  };
  return (
    <>
      <SeriesText {...{ text, type, message }} />
      <FileField
        label="or a CSV file"
        accept=".csv,.txt,.tsv,text/csv,text/plain"
        expected="numbers as text"
        note="Its last column is read."
        own={own}
        backLabel="Back to our series"
        read={async (file) => ownSeriesOf(await file.text())}
        describe={({ note }) => note}
        onRead={(series) => {
          setText("");
          show(series, null);
        }}
      />
    </>
  );
}

function SeriesText(props: { text: string; type(text: string): void; message: string | null }) {
  const id = useId();
  return (
    <div class="group">
      <label for={id}>Your own series</label>
      <textarea
        id={id}
        class="own-series"
        rows={3}
        spellcheck={false}
        placeholder="3.1 4.2 ? ? 5.0 …"
        value={props.text}
        onInput={({ currentTarget }) => props.type(currentTarget.value)}
      />
      <p class="small" role="status">
        {props.message ?? (
          <span class="faint">
            {fewestValues} to {mostValues} numbers, “?” for a missing one. They stay in this page.
          </span>
        )}
      </p>
    </div>
  );
}
