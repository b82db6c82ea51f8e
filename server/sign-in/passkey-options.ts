import type { PasskeyAsk } from '../../views/parts/passkey-form.tsx';
import type { Continuation, RequestContext } from '../http/index.ts';
import { requestOptionsForUser } from '../passkeys/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

/** The options of /re-authenticate, with the user's own passkeys; undefined if there are none. */
export async function passkeyRequestOptionsForUser(
  { t }: RequestContext,
  { passkeys }: Pick<SignInDeps, 'passkeys'>,
  { user, continuation: { search } }: { user: User; continuation: Continuation },
): Promise<PasskeyAsk | undefined> {
  const options = passkeys && (await requestOptionsForUser(passkeys, user));
  return options && { action: `/re-authenticate/passkey${search}`, options, label: t('passkeys.signIn.confirm') };
}
