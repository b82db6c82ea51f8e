import type { ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { translator } from '../../server/http/language.ts';
import { PublicNav } from '../../views/layout/header.tsx';
import { SubHeader } from '../../views/layout/sub-header.tsx';
import { ScopeList } from '../../views/oidc/scope-list.tsx';
import { scopeTexts } from '../../views/oidc/scope-texts.ts';
import { AppTile } from '../../views/parts/app-tile.tsx';
import { Button } from '../../views/parts/button.tsx';
import { CodeInputView } from '../../views/parts/code-input.tsx';
import { ItemList } from '../../views/parts/item-list.tsx';
import { noticeDurationsMs } from '../../views/parts/notice-durations.ts';
import { RadioCards } from '../../views/parts/radio-cards.tsx';
import { SelectField } from '../../views/parts/select-field.tsx';
import { SideMenu } from '../../views/parts/side-menu.tsx';
import { Snackbar } from '../../views/parts/snackbar.tsx';
import { Stepper } from '../../views/parts/stepper.tsx';
import { StrengthChecklist, strengthWords } from '../../views/parts/strength-checklist.tsx';
import { Table } from '../../views/parts/table.tsx';
import { contextFor, member } from './samples/context.ts';

const html = (part: ReactElement) => renderToStaticMarkup(part);
const t = translator('en');
const ctx = contextFor('en');

it('A busy button is disabled and announced as busy', () => {
  expect(html(<Button busy>Save</Button>)).toBe(
    '<button type="submit" class="button primary" disabled="" aria-busy="true">Save</button>',
  );
});

it('The code input is one numeric field that browsers fill in, wide enough for a pasted space', () => {
  const code = html(<CodeInputView name="code" label="Code" length={6} incomplete="6 digits" error="Invalid code" />);
  expect(code).toMatch(
    /<input(?=[^>]* inputMode="numeric")(?=[^>]* autoComplete="one-time-code")(?=[^>]* aria-invalid="true")/i,
  );
  expect(code).toMatch(/aria-describedby="field-code-error"/);
  expect(code).toMatch(/enterkeyhint="done"/i);
  expect(code).not.toMatch(/maxlength/i);
  expect(code.match(/<input/g)).toHaveLength(1);
});

it('A select offers an empty choice first and is tied to its error', () => {
  const select = html(
    <SelectField
      name="country"
      label="Country"
      placeholder="Choose"
      options={[{ value: 'nl', label: 'NL' }]}
      error="Empty"
    />,
  );
  expect(select).toContain('<option value="" selected="">Choose</option>');
  expect(select).toMatch(/<select id="field-country"[^>]* aria-describedby="field-country-error" aria-invalid="true"/);
});

it('Radio cards are one group of radio buttons, and each refers to the group’s error', () => {
  const cards = html(
    <RadioCards
      name="plan"
      legend="Plan"
      value="b"
      error="Choose one"
      cards={[
        { value: 'a', title: 'A' },
        { value: 'b', title: 'B', price: { amount: '$900', per: 'a year' } },
        { value: 'c', title: 'C', disabled: true },
      ]}
    />,
  );
  expect(cards).toContain('<legend>Plan</legend>');
  expect(
    cards.match(
      /type="radio" [^>]*aria-describedby="field-plan-error" name="plan"|aria-describedby="field-plan-error"/g,
    ),
  ).toHaveLength(3);
  expect(cards).toMatch(/<input[^>]* checked=""[^>]* value="b"/);
  expect(cards).toMatch(/<input[^>]* disabled=""[^>]* value="c"/);
});

it('The stepper names the steps that are done, current and still to come', () => {
  const steps = html(<Stepper t={t} label="Steps" steps={['PROFILE', 'SECURITY', 'PLAN']} current={1} />);
  expect(steps.match(/aria-current="step"/g)).toHaveLength(1);
  expect(
    steps
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  ).toBe('PROFILE done SECURITY current step PLAN still to come');
});

it('The password rules are the specification’s three lines and name the missed ones in words', () => {
  const fresh = html(<StrengthChecklist labels={strengthWords(t)} id="s" />);
  expect([...fresh.matchAll(/<span>([^<]*)/g)].map(([, text]) => text)).toEqual([
    'Contains a number or symbol',
    'At least 8 characters',
    'Can’t contain your name or email address',
  ]);
  expect(fresh).not.toMatch(/met/);
  const sent = html(
    <StrengthChecklist
      labels={strengthWords(t)}
      id="s"
      met={{ numberOrSymbol: true, length: false, notPersonal: true }}
    />,
  );
  expect(sent.match(/\(met\)/g)).toHaveLength(2);
  expect(sent.match(/class="unmet".*?\(not met yet\)/s)).not.toBeNull();
  // What a screen reader says while the user types.
  expect(sent).toContain('<p class="visually-hidden" role="status">2 of 3 met</p>');
});

it('A table keeps its roles and labels when it becomes a list, and shows something else when it is empty', () => {
  const columns = [{ key: 'a', label: 'Amount', numeric: true, cell: (row: number) => row }];
  const table = html(<Table caption="Orders" columns={columns} rows={[1, 2]} rowKey={String} />);
  expect(table.match(/role="(?:table|row|cell|columnheader)"/g)).toHaveLength(1 + 3 + 2 + 1);
  expect(table.match(/data-label="Amount" class="numeric"/g)).toHaveLength(2);
  expect(html(<Table caption="O" columns={columns} rows={[]} rowKey={String} empty={<p>None</p>} />)).toBe(
    '<p>None</p>',
  );
});

it('An edit link names what it edits', () => {
  const items = [{ label: 'Phone', value: '+31', action: { href: '/phone', label: 'Edit', context: 'phone' } }];
  expect(html(<ItemList items={items} />)).toContain('Edit<span class="visually-hidden"> phone</span>');
});

it('A client without an address has no button, and one without a logo has Foyer’s sign', () => {
  const tile = html(<AppTile ctx={ctx} name="Batch" clientId="batch" open="Open" />);
  expect(tile).not.toMatch(/<a |<img |<h2/);
  expect(tile).toMatch(/class="app-logo hue-\d+".*class="app-initial">B</);
});

it('Notices stay as long as the specification says', () => {
  expect(noticeDurationsMs).toEqual({
    profile: 3000,
    errorBar: 3000,
    terms: 5000,
    redirecting: 1500,
    short: 2500,
    never: null,
  });
  expect(html(<Snackbar ctx={ctx} kind="success" text="Saved" duration="terms" />)).toContain(
    '&quot;durationMs&quot;:5000',
  );
  expect(html(<Snackbar ctx={ctx} kind="error" text="Declined" duration="never" />)).not.toContain('data-island');
});

describe('headers link only what exists', () => {
  it('The public header has Search, Sign in and Sign up, except the current page', () => {
    const words = (part: ReactElement) => [...html(part).matchAll(/<a [^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(words(<PublicNav ctx={ctx} />)).toEqual(['Search', 'Sign in', 'Sign up']);
    expect(words(<PublicNav ctx={ctx} at="signIn" />)).toEqual(['Search', 'Sign up']);
    expect(html(<PublicNav ctx={{ ...ctx, links: { signIn: '/' } }} at="signIn" />)).toBe('');
  });

  it('The second row has Back, Dashboard, Showcase pages, Shortlist and Wallet', () => {
    const row = html(<SubHeader ctx={{ ...ctx, member }} backHref="/back" at="wallet" />);
    expect([...row.matchAll(/>([^<>]+)<\/a>/g)].map(([, text]) => text)).toEqual([
      'Back',
      'Dashboard',
      'Showcase pages',
      'Shortlist',
      'Wallet',
    ]);
    expect(row).toMatch(/aria-current="page">Wallet/);
    expect(html(<SubHeader ctx={{ ...ctx, links: {} }} />)).toBe('');
  });

  it('The side menu leaves out entries without an address', () => {
    const menu = html(
      <SideMenu
        label="Account"
        links={[
          { href: '/a', label: 'A', current: true },
          { href: undefined, label: 'B' },
        ]}
      />,
    );
    expect(menu).toContain('aria-current="page">A');
    expect(menu).not.toMatch(/>B</);
  });
});

it('Access that changes things, or lasts while the user is away, is marked in words and by its icon', () => {
  const names = ['openid', 'email', 'membership', 'offline_access', 'account', 'account:security', 'account:payments'];
  const scopes = scopeTexts(t, [...names, 'wallet']);
  const rows = [...html(<ScopeList ctx={ctx} scopes={scopes} short />).matchAll(/<li.*?<\/li>/gs)].map(([row]) => row);
  expect(rows).toHaveLength(8);
  const marked = rows.filter((row) => row.includes('Important:') && row.includes('class="powerful"'));
  expect(marked.map((row) => /<strong>(.*)<\/strong>/.exec(row)?.[1])).toEqual([
    'Stay connected',
    'Read and change your profile',
    'Change how you sign in',
    'Buy and change plans',
  ]);
  expect(rows.filter((row) => row.includes('Important:') || row.includes('powerful'))).toEqual(marked);
});
