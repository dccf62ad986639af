/** A picture between the tokens of an attention, alive: it points, keeps a cell and selects a row. */
import { HeatMap } from "../../components/HeatMap";
import type { Picture } from "../../paint";
import { usePage } from "./page";

export function HeadMap({
  name,
  title,
  note,
  picture,
}: {
  name: string;
  title: string;
  note?: string;
  picture: Picture;
}) {
  const { scene, set, point, press } = usePage();
  const { rows, columns } = scene.shown.attention;
  return (
    <HeatMap
      name={name}
      title={title}
      {...(note !== undefined && { note })}
      picture={picture}
      hint="Enter keeps a cell."
      actions={{ point, press, selectRow: (row) => set({ row }) }}
      saved={{
        file: `${name}-${scene.shown.head.key}`,
        caption: `${title}: ${scene.seen.text}`,
        ...{ rows, cols: columns },
      }}
    />
  );
}
