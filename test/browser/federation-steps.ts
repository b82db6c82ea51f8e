import type { Page } from 'playwright-core';
import { type ButtonGroup, byStandardKind, standardProviders } from '../../config/standard-providers.ts';
import type { StandInKind } from '../../sandbox/providers/index.ts';
import { type SandboxT, translator } from '../../sandbox/texts.ts';

/** As the buttons call them. */
export const providerNames: Record<StandInKind, string> = {
  ...byStandardKind((kind) => standardProviders[kind].name),
  oidc: 'Acme',
  saml: 'Acme Corporate',
};

export interface Somebody {
  givenName: string;
  familyName: string;
  email: string;
  emailVerified: boolean;
}

const companyDomains: Partial<Record<StandInKind, string>> = { oidc: 'acme.example', saml: 'corp.acme.example' };
let people = 0;

/** Of whom no one has heard yet. Google, Acme and Acme Corporate vouch for the addresses that they give. */
export function somebody(kind: StandInKind): Somebody {
  people += 1;
  const email = `ida${people}@${companyDomains[kind] ?? 'example.com'}`;
  return { givenName: 'Ida', familyName: 'Moreau', email, emailVerified: true };
}

const groups: Partial<Record<StandInKind, ButtonGroup>> = byStandardKind((kind) => standardProviders[kind].group);

/** The button of a provider, on a page for signing in or up. */
export async function pressDoor(page: Page, kind: StandInKind, t: SandboxT = translator('en')): Promise<void> {
  if ((groups[kind] ?? 'others') === 'others') await page.locator('.more-provider-buttons > summary').click();
  const name = t('federation.buttons.continueWith', { provider: providerNames[kind] });
  await page.getByRole('button', { name, exact: true }).click();
}

/** SAML's answer is a form, which is sent by itself where scripts run. */
export async function passOn(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'One moment' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Says at the provider's account chooser who it is; the browser goes back to Foyer. */
export async function choose(page: Page, { givenName, familyName, email }: Somebody): Promise<void> {
  await page.getByRole('heading', { name: 'Choose an account' }).waitFor();
  await page.getByText('Use another account').click();
  await page.getByLabel('Name').fill(`${givenName} ${familyName}`);
  await page.getByLabel('Email (empty: none is given)').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
}
