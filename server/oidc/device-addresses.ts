/** Short, because users type it. Language buttons can return to it. */
export const devicePath = '/device';
export const deviceDonePath = `${devicePath}/done`;
export const deviceRefusedPath = `${devicePath}/refused`;

/** The form was sent without the session that its page started. */
export const staleParameter = 'stale';

const maxCharacters = 40;

/** A code that a user has typed, or that an address has; '' for anything else. */
export const readUserCode = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, maxCharacters) : '';

/** The page for codes: with this code in its field, and with a notice that the previous page was out of date. */
export function deviceUrl(
  path: string,
  { userCode, isStale = false }: { userCode: string; isStale?: boolean },
): string {
  const query = new URLSearchParams({
    ...(userCode !== '' && { user_code: userCode }),
    ...(isStale && { [staleParameter]: '1' }),
  });
  return query.size > 0 ? `${path}?${query}` : path;
}
