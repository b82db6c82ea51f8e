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
  'internal',
  'methodNotAllowed',
  'notFound',
  'otherBrowser',
  'redirectNotRegistered',
  'requestExpired',
  'signOutFailed',
  'tooLarge',
  'tooMany',
  'unauthorized',
  'unavailable',
  'unregisteredClient',
  'unsupportedType',
  'validation',
  'wrongHost',
] as const;

export type PageErrorKind = (typeof errorKinds)[number];

export const isPageErrorKind = (kind: string): kind is PageErrorKind => errorKinds.some((one) => one === kind);

/** Seconds up to a minute and a half, then minutes, rounded up. */
function waitText(t: T, seconds: number): string {
  return seconds <= 90
    ? t('errors.tooMany.seconds', { count: Math.max(1, Math.ceil(seconds)) })
    : t('errors.tooMany.minutes', { count: Math.ceil(seconds / 60) });
}

/** The text of an error page. `retryAfterSeconds` only applies to `tooMany` (60 if unknown). */
export function errorTexts(
  t: T,
  kind: PageErrorKind,
  values: { retryAfterSeconds?: number | undefined } = {},
): { title: string; message: string } {
  const message = kind === 'tooMany' ? waitText(t, values.retryAfterSeconds ?? 60) : t(`errors.${kind}.message`);
  const title = kind === 'notFound' ? t('errors.notFound.name') : t(`errors.${kind}.title`);
  return { title, message };
}

/** For a form whose password cannot be checked now. */
export const passwordsBusyText = (t: T, seconds: number): string =>
  `${t('errors.busy.passwords')} ${waitText(t, seconds)} ${t('errors.busy.reload')}`;
