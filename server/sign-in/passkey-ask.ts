import type { Request, Response } from 'express';
import type { PasskeyAsk } from '../../views/parts/passkey-form.tsx';
import type { User } from '../account/index.ts';
import type { Errand } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';

/** What the sign-in page asks the browser; undefined where there are no passkeys. */
export function passkeyAsk(
  { pages, passkeys }: Pick<SignInDeps, 'pages' | 'passkeys'>,
  req: Request,
  res: Response,
  errand: Errand,
): PasskeyAsk | undefined {
  return (
    passkeys && {
      action: `/sign-in/passkey${errand.search}`,
      options: passkeys.requestOptions(),
      label: pages.context(req, res).t('passkeys.signIn.button'),
    }
  );
}

/** The same on /re-authenticate: one of the member's own; undefined where they have none. */
export async function passkeyAskAgain(
  { pages, passkeys }: Pick<SignInDeps, 'pages' | 'passkeys'>,
  req: Request,
  res: Response,
  user: User,
  errand: Errand,
): Promise<PasskeyAsk | undefined> {
  const options = await passkeys?.requestOptionsFor(user);
  return (
    options && {
      action: `/re-authenticate/passkey${errand.search}`,
      options,
      label: pages.context(req, res).t('passkeys.signIn.confirm'),
    }
  );
}
