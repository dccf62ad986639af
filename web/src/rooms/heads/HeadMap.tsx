/** An interactive heat map of an attention: cells can be pointed at and locked, rows selected. */
import { HeatMap } from "../../picture/HeatMap";
import type { Picture } from "../../picture/paint";
import { exhibitOf } from "./catalogue";
import { usePage } from "./page";
import type { HeadView } from "./scene";

export function HeadMap({
  name,
  title,
  of,
  note = of.name,
  picture,
}: {
  name: string;
  title: string;
  /** The head that is drawn. */
  of: HeadView;
  note?: string;
  picture: Picture;
}) {
  const { scene, set, point, press } = usePage();
  const { rows, columns } = scene.shown.attention;
  return (
    <HeatMap
      name={name}
      title={title}
      note={note}
      picture={picture}
      hint="Enter keeps a cell."
      actions={{ point, press, selectRow: (row) => set({ row }) }}
      saved={{
        file: `${name}-${of.head.key}`,
        caption: `${title}, ${exhibitOf(scene.seen.exhibit).name}, ${note}: ${scene.seen.text}`,
        ...{ rows, cols: columns },
      }}
    />
  );
}
