/** The handlers that call `move` where the pointer presses an element, and while it drags the element. */
export const dragging = (move: (event: PointerEvent) => void) => ({
  onPointerDown(event: PointerEvent) {
    if (event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    move(event);
  },
  onPointerMove(event: PointerEvent) {
    if (event.buttons & 1) move(event);
  },
});
