import type { ProviderKind } from '../../../config/standard-providers.ts';
import { toKindMark } from '../../../server/federation/index.ts';
import { type T, toControls } from '../../../server/http/index.ts';
import { forgotPasswordAction } from '../../../server/password/password-texts.ts';
import { resetForm } from '../../../server/password/reset-password-handlers.ts';
import { reauthenticateForm, signInForm } from '../../../server/sign-in/sign-in-texts.ts';
import { profileForm } from '../../../server/sign-up/profile-input.ts';
import type { ProviderButtonGroups, ProviderButtonProps } from '../../../views/parts/provider-buttons.tsx';

/** The controls of the forms for visitors. */
export const sampleControls = {
  signIn: toControls(signInForm),
  forgotPassword: toControls(forgotPasswordAction.form),
  signUp: toControls(profileForm),
  resetPassword: toControls(resetForm(false)),
  reauthenticate: toControls(reauthenticateForm),
};

/** The buttons of providers. */
export function sampleDoors(t: T, clientName: string) {
  const noDoors: ProviderButtonGroups = { top: [], facebook: [], others: [], open: true };
  const door = (kind: ProviderKind, provider: string, logo?: string): ProviderButtonProps => ({
    ...toKindMark(kind),
    label: t('federation.buttons.continueWith', { provider }),
    name: provider,
    logo,
    action: `/federation/${provider.toLowerCase()}`,
  });
  const allDoors: ProviderButtonGroups = {
    top: [door('amazon', 'Amazon'), door('google', 'Google')],
    facebook: [door('facebook', 'Facebook')],
    others: [
      door('oidc', 'Acme', 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='),
      door('saml', 'Ledger & Sons'),
    ],
    open: false,
  };
  const instead = t('federation.buttons.embedded', { providers: 'Google', place: clientName });
  const fewDoors: ProviderButtonGroups = { ...noDoors, others: allDoors.others, instead };
  return { door, noDoors, allDoors, fewDoors };
}
