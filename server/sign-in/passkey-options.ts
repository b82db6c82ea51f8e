import type { Request } from 'express';
import type { PasskeyAsk } from '../../views/parts/passkey-form.tsx';
import type { Continuation } from '../http/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

/** The passkey options of the sign-in page; undefined if passkeys are unavailable. */
export function passkeyRequestOptions(
  { passkeys }: Pick<SignInDeps, 'passkeys'>,
  req: Request,
  continuation: Continuation,
): PasskeyAsk | undefined {
  return (
    passkeys && {
      action: `/sign-in/passkey${continuation.search}`,
      options: passkeys.requestOptions(),
      label: req.t('passkeys.signIn.button'),
    }
  );
}

/** The same for /re-authenticate, with the user's own passkeys; undefined if there are none. */
export async function passkeyRequestOptionsForUser(
  { passkeys }: Pick<SignInDeps, 'passkeys'>,
  req: Request,
  user: User,
  continuation: Continuation,
): Promise<PasskeyAsk | undefined> {
  const options = await passkeys?.requestOptionsFor(user);
  return (
    options && {
      action: `/re-authenticate/passkey${continuation.search}`,
      options,
      label: req.t('passkeys.signIn.confirm'),
    }
  );
}
