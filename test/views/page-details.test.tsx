import { readFileSync } from 'node:fs';
import { cloneElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { renderDocument } from '../../server/http/render.tsx';
import { Pair } from '../../views/oidc/consent-page.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { samplePage } from './every-page.tsx';
import { contextFor, member } from './samples/context.ts';

const render = (name: string, ctx: PageContext = contextFor('en')) =>
  renderDocument(ctx, samplePage(ctx, name), { title: '' });

describe('the color of a phone’s browser bar', () => {
  const colors = (html: string) =>
    [...html.matchAll(/<meta(?=[^>]* name="theme-color")[^>]*>/g)].map(([meta]) => [
      /prefers-color-scheme: (\w+)/.exec(meta)?.[1],
      /content="([^"]*)"/.exec(meta)?.[1],
    ]);
  /** The values of a color in the stylesheet: light, then dark. */
  const ofStyles = (token: string) =>
    [...readFileSync('client/styles/tokens.css', 'utf8').matchAll(new RegExp(`--${token}: (#\\w+)`, 'g'))].map(
      ([, color]) => color,
    );

  it.each([
    ['sign-in', 'wall-high'],
    ['terms', 'paper'],
  ])('The page %s begins in the color %s of the stylesheet, in both themes', (page, token) => {
    const [light, dark] = ofStyles(token);
    expect([light, dark]).toEqual([expect.stringMatching(/^#/), expect.stringMatching(/^#/)]);
    expect(colors(render(page))).toEqual([
      ['light', light],
      ['dark', dark],
    ]);
  });

  it('Where a brand has colors of its own, the browser’s bar keeps its own', () => {
    const ctx = contextFor('en');
    expect(colors(render('sign-in', { ...ctx, assets: { ...ctx.assets, brandCss: '/brand.css' } }))).toEqual([]);
  });
});

it('The sign-up links the privacy policy beside the terms, above its button, and not where there is none', () => {
  const ctx = contextFor('en');
  const form = (html: string) => /<form[^>]*id="sign-up".*?<\/form>/s.exec(html)?.[0] ?? '';
  const targets = (html: string) => [...form(html).matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
  expect(targets(render('sign-up'))).toEqual(['/tos', 'https://example.com/privacy']);
  expect(form(render('sign-up'))).toMatch(/example\.com\/privacy.*<button/s);
  const { privacy: _, ...links } = ctx.links;
  expect(targets(render('sign-up', { ...ctx, links }))).toEqual(['/tos']);
});

it('The consent page shows the initials of the account that gives the access', () => {
  const html = render('consent', { ...contextFor('en'), member });
  const row = /<div class="consent-account">.*?<\/div>/s.exec(html)?.[0] ?? '';
  expect(row).toContain('<span>VF</span>');
  expect(row).toContain(member.email);
  expect(html).toContain('You can remove');
});

it('A client app has the same color on its tile, in the question of consent and where it needs another plan', () => {
  const hues = (html: string) => [...html.matchAll(/class="app-logo (hue-\d+)/g)].map(([, hue]) => hue);
  const [academy, ...others] = hues(render('dashboard'));
  expect(others.some((other) => other !== academy)).toBe(true);
  expect(hues(render('not-in-plan'))).toEqual([academy]);
  // The name plays no part.
  expect(hues(renderToStaticMarkup(<Pair ctx={contextFor('en')} clientId="academy" clientName="Other" />))).toEqual([
    academy,
  ]);
  expect(hues(render('consent'))).toHaveLength(1);
});

it('The page of a code has Back, Start over and Cancel in one row, and Sign in below', () => {
  const ways = /<div class="panel-ways">.*?<\/div>/s.exec(render('sign-up-code'))?.[0] ?? '';
  const row = /<form.*?<\/form>/s.exec(ways)?.[0] ?? '';
  const texts = (part: string) => [...part.matchAll(/<(?:a|button)\b[^>]*>([^<]*)/g)].map(([, text]) => text);
  expect(texts(row)).toEqual(['Back', 'Start over', 'Cancel']);
  expect(texts(ways)).toEqual(['Back', 'Start over', 'Cancel', 'Sign in']);
});

it('The page of a code links the mailbox of an address whose provider is known', () => {
  const ctx = contextFor('en');
  const page = samplePage(ctx, 'sign-up-code') as ReactElement<{ email?: string }>;
  const links = (email: string) =>
    /<a href="https:[^>]*target="_blank"[^>]*>Open [^<]*/.exec(
      renderDocument(ctx, cloneElement(page, { email }), { title: '' }),
    )?.[0];
  expect(links('vera@gmail.com')).toMatch(/^<a href="https:\/\/mail\.google\.com\/.*>Open Gmail$/);
  expect(links('vera@example.com')).toBeUndefined();
});

it('A list of the settings has the notice of a change directly above its card, below the menu', () => {
  const notice = contextFor('en').t('passkeys.notices.added');
  const [above = '', below = ''] = render('passkeys').split('<div class="stack">');
  expect(above).not.toContain(notice);
  expect(below.slice(0, below.indexOf('<section'))).toContain(notice);
});
