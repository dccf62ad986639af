/** A context for the values that the parts of a view share, and the hook that reads them. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export function workspaceIn<Workspace>() {
  const Context = createContext<Workspace | null>(null);
  const useWorkspace = (): Workspace => {
    const workspace = useContext(Context);
    if (!workspace) throw new Error("the part of a view needs a workspace around it");
    return workspace;
  };
  return [Context, useWorkspace] as const;
}
