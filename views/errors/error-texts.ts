import type { T } from '../../locales/index.ts';

/** Every kind of error that has a page. */
export const errorKinds = [
  'authorizationFailed',
  'badRequest',
  'busy',
  'conflict',
  'crossSite',
  'forbidden',
  'headersTooLarge',
  'insufficientAuthentication',
  'insufficientScope',
  'internal',
  'methodNotAllowed',
  'notFound',
  'otherBrowser',
  'paymentAction',
  'paymentRequired',
  'redirectNotRegistered',
  'requestExpired',
  'signOutFailed',
  'termsNotAccepted',
  'tokenRevoked',
  'tooLarge',
  'tooMany',
  'unauthorized',
  'unavailable',
  'unknownClient',
  'unsupportedType',
  'validation',
  'wrongHost',
] as const;

export type ErrorKind = (typeof errorKinds)[number];

/** Seconds up to a minute and a half, then minutes, rounded up. */
function waitText(t: T, seconds: number): string {
  return seconds <= 90
    ? t('errors.tooMany.seconds', { count: Math.max(1, Math.ceil(seconds)) })
    : t('errors.tooMany.minutes', { count: Math.ceil(seconds / 60) });
}

/** The text of an error page. `retryAfterSeconds` only applies to `tooMany` (60 if unknown). */
export function errorTexts(
  t: T,
  kind: ErrorKind,
  values: { retryAfterSeconds?: number | undefined } = {},
): { title: string; message: string } {
  const message = kind === 'tooMany' ? waitText(t, values.retryAfterSeconds ?? 60) : t(`errors.${kind}.message`);
  // The page for a missing page has its own text; this is for callers of the JSON API.
  const title = kind === 'notFound' ? t('errors.notFound.name') : t(`errors.${kind}.title`);
  return { title, message };
}
