/** Shows one of several panels, by their ids. */
export function showPanel(ids: readonly (string | undefined)[], view: string | undefined): void {
  for (const id of ids) {
    const panel = id === undefined ? null : document.getElementById(id);
    if (panel) panel.hidden = id !== view;
  }
}
