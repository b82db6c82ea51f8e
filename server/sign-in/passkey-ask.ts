import type { Request, Response } from 'express';
import type { PasskeyAsk } from '../../views/parts/passkey-form.tsx';
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
