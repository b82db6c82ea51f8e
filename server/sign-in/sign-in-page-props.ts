import type { PasskeyAsk } from '../../views/parts/passkey-form.tsx';
import type { SignInPageProps } from '../../views/sign-in/sign-in-page.tsx';
import { toProviderButtons } from '../federation/index.ts';
import {
  type Continuation,
  type Language,
  listOpenNames,
  type OpenInput,
  type RequestContext,
  type T,
  toControls,
} from '../http/index.ts';
import { requestOptions } from '../passkeys/index.ts';
import type { SignInDeps, SignInPageState } from './deps.ts';
import { signInForm } from './sign-in-texts.ts';

/** The sign-in page: its form, the place to which it leads, and the client app that waits. */
export interface SignInPageView extends SignInPageState {
  continuation: Continuation;
  clientName?: string | undefined;
}

/** The visitor's facts that change the page. */
interface Visitor {
  t: T;
  lang: Language;
  userAgent: string | undefined;
}

/** The passkey options of the sign-in page; undefined if passkeys are unavailable. */
export function passkeyRequestOptions(
  { t }: Pick<RequestContext, 't'>,
  { passkeys }: Pick<SignInDeps, 'passkeys'>,
  { search }: Continuation,
): PasskeyAsk | undefined {
  if (!passkeys) return undefined;
  const label = t('passkeys.signIn.button');
  return { action: `/sign-in/passkey${search}`, options: requestOptions(passkeys), label };
}

/** The form whose input stays when another language is chosen. */
export const signInKeeps = { form: 'sign-in', names: listOpenNames(signInForm) };

/** The input that stayed. */
export const toKeptValues = ({ username = '', remember = '' }: OpenInput) => ({ username, remember: remember !== '' });

export function toSignInPageProps(
  visitor: Visitor,
  { federation, publicUrl }: Pick<SignInDeps, 'federation' | 'publicUrl'>,
  view: SignInPageView & { passkey: PasskeyAsk | undefined },
): Omit<SignInPageProps, 'ctx'> {
  const { continuation, clientName, providerNotice, hiddenProvider, passkey, isReset = false } = view;
  const { values = { username: '', remember: false }, errors = {} } = view;
  const { search } = continuation;
  return {
    action: `/sign-in${search}`,
    controls: toControls(signInForm),
    values,
    errors,
    passkey,
    providerNotice,
    providerButtons: toProviderButtons(
      { all: federation.providers.all.filter((one) => one !== hiddenProvider) },
      visitor,
      { search, clientLabel: clientName ?? new URL(publicUrl).host },
    ),
    ...(isReset && { done: visitor.t('password.reset.done') }),
    ...(clientName !== undefined && { clientName }),
  };
}
