/** The shell around all rooms: opens the room of the link, and provides the engine, the theme and the state. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { hides } from "../shared/restrictions";
import { type Shell, ShellContext } from "../shared/shell";
import { Tried } from "../shared/TryNext";
import { type EngineClient, EngineContext, type EngineInfo } from "../worker/engineClient";
import { ClassLink } from "./ClassLink";
import { Footer } from "./Footer";
import { Glossary } from "./Glossary";
import { Header } from "./Header";
import { NextRoom } from "./NextRoom";
import { useTheme } from "./theme";
import { addressOf, linkOf, type Place, usePlace } from "./usePlace";
import { useTried } from "./useTried";

export function App({ first, engine }: { first: Place; engine: EngineClient }) {
  const { place, set, remember, linkTo } = usePlace(first);
  const { choice, theme, isPrinting, choose } = useTheme();
  const [info, setInfo] = useState<EngineInfo | null>(null);
  const [hasFailed, setHasFailed] = useState(false);
  const { tried, setTried } = useTried(place);
  const [footnote, setFootnote] = useState<string | null>(null);
  const { id, room, state, notices, restrictions } = place;

  useEffect(() => {
    engine.started.then(setInfo, () => setHasFailed(true));
  }, [engine]);
  useEffect(() => {
    document.title = `${room.title} · Heed`;
  }, [room]);

  const shell = useMemo<Shell>(
    () => ({ theme, isPrinting, restrictions, remember, setTried, setFootnote }),
    [theme, isPrinting, restrictions],
  );
  const isWhole = restrictions.embed === null;
  return (
    <ShellContext.Provider value={shell}>
      {isWhole && (
        <Header
          current={id}
          linkTo={hides(restrictions, "nav") ? null : linkTo}
          title={room.title}
          lead={hides(restrictions, "text") ? null : room.lead}
          address={addressOf(linkOf(place))}
          choice={choice}
          choose={choose}
        />
      )}
      {tried && <Tried suggestion={tried} onEnd={() => setTried(null)} />}
      <main
        key={id}
        class={["room", id, room.variantOf?.(state), !isWhole && "embedded"]
          .filter(Boolean)
          .join(" ")}
      >
        <EngineContext.Provider value={engine}>
          <room.View state={state} set={set} notices={notices} />
        </EngineContext.Provider>
      </main>
      {isWhole && (
        <>
          {!hides(restrictions, "nav") && <NextRoom current={id} linkTo={linkTo} />}
          {!hides(restrictions, "text") && <Glossary key={id} room={id} />}
          {!restrictions.lock && <ClassLink link={linkOf(place)} panels={room.panels} />}
          {!hides(restrictions, "nav") && (
            <nav class="documentation small faint" aria-label="Documentation">
              <a href="./docs/">Documentation</a>: guides, the package's reference, C++
            </nav>
          )}
          <Footer info={info} hasFailed={hasFailed} footnote={footnote} />
        </>
      )}
    </ShellContext.Provider>
  );
}
