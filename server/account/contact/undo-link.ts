/** Hours within which a change of an address can be undone. */
const undoHours = 72;
export const undoMs = undoHours * 60 * 60_000;

/** The address in the mail about a changed address. */
export const undoUrl = (publicUrl: string, { change, secret }: { change: string; secret: string }): string =>
  `${publicUrl}/undo-email-change?${new URLSearchParams({ token: `${change}.${secret}` })}`;
