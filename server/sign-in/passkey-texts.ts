import type { RequestContext } from '../http/index.ts';
import type { PasskeySignInResult } from './passkey-sign-in.ts';

type PasskeyRefusalText = Extract<PasskeySignInResult, { kind: 'refused' }>['refusal'];

/** The text and status for a refused passkey; sets Retry-After if there is one. */
export function passkeyErrorText(r: RequestContext, refusal: PasskeyRefusalText): { status: number; text: string } {
  const { t } = r;
  switch (refusal.kind) {
    case 'too-many': {
      r.setRetryAfter(refusal.retryAfterMs);
      const minutes = Math.max(1, Math.ceil(refusal.retryAfterMs / 60_000));
      return { status: 429, text: t('signIn.errors.tooMany', { minutes }) };
    }
    case 'disabled':
      return { status: 403, text: t('signIn.errors.disabled') };
    default:
      return { status: 400, text: t(`passkeys.signIn.errors.${refusal.kind}`) };
  }
}
