import type { Provider } from '../federation/index.ts';

/** The content of the sign-in form. The password is never part of it. */
export interface SignInPageState {
  values?: { username: string; remember: boolean };
  errors?: { username?: string; password?: string; form?: string };
  /** The password has just been reset. */
  isReset?: boolean;
  /** The result of an attempt at a provider. */
  providerNotice?: { kind: 'error' | 'info'; text: string } | undefined;
  /** A provider whose button would lead back to this page. */
  hiddenProvider?: Provider | undefined;
  status?: number;
}
