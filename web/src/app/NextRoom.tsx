/** The end of a room: the question that the next room answers. */
import { toTop } from "../shared/shell";
import { type RoomId, rooms } from "./rooms";

export function NextRoom({ current, linkTo }: { current: RoomId; linkTo(id: RoomId): string }) {
  const next = rooms[rooms.findIndex(({ id }) => id === current) + 1];
  return (
    <nav class="next-room" aria-label="Next room">
      <p>
        <span class="faint">Next: {next ? next.name : "documentation"}</span>
        <a href={next ? linkTo(next.id) : "./docs/"} onClick={toTop}>
          {next ? next.question : "How do I use attention in a page of mine?"}
        </a>
      </p>
    </nav>
  );
}
