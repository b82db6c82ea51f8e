import type { T } from '../http/index.ts';
import type { Provider } from './providers.ts';
import type { SignInNotice } from './sign-in-notices.ts';

/** The notice about a sign-in that ended: an error or an information. */
export function noticeText(
  t: T,
  { why, provider }: { why: SignInNotice; provider: Pick<Provider, 'name'> },
): { kind: 'error' | 'info'; text: string } {
  const values = { provider: provider.name };
  if (why === 'offer') return { kind: 'info', text: t('federation.linkConfirmation.signInFirst', values) };
  if (why === 'prove') return { kind: 'info', text: t('federation.prove', values) };
  if (why === 'signed-out') return { kind: 'info', text: t('federation.signedOut', values) };
  return { kind: why === 'cancelled' ? 'info' : 'error', text: t(`federation.notices.${why}`, values) };
}
