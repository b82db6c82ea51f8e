import { languages } from '../../server/http/language.ts';
import { renderDocument } from '../../server/http/render.tsx';
import { everyPage, samplePage } from './every-page.tsx';
import { rawKeys, visible } from './raw-keys.ts';
import { contextFor, member } from './samples/context.ts';

it('The search for raw keys finds keys and placeholders', () => {
  const html = '<p title="signIn.title">terms.TERMS_OF_SERVICE_MESSAGE_ERROR {{name}}</p><p>common.menu.nothing</p>';
  expect(rawKeys(html)).toEqual(
    expect.arrayContaining(['signIn.title', 'terms.TERMS_OF_SERVICE_MESSAGE_ERROR', '{{', 'common.menu.nothing']),
  );
  expect(rawKeys('<p>Go on to client.example, version 1.0.0, vera@example.com.</p>')).toEqual([]);
});

/** The faults of a document, each in a few words. */
function listFaults(html: string, lang: string): string[] {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  const scripts = [...html.matchAll(/<script\b([^>]*)>(.*?)<\/script>/gs)];
  const isOwn = (attributes = '') =>
    [/ type="module"/, / src="\/assets\/[\w-]+\.js"/, / nonce="bm9uY2U"/].every((part) => part.test(attributes));
  const forms = [...html.matchAll(/<form[^>]*>/g)].map(([form]) => form);
  const checks: Record<string, boolean> = {
    'shows hardly any text': visible(html).length <= 100,
    'has a style attribute': /\sstyle\s*=|<style/i.test(html),
    'has an inline handler': /<[^>]*\son[a-z]+\s*=/i.test(html),
    'has an inline script': scripts.some(([, , body]) => body !== ''),
    'loads a script without nonce, or from elsewhere': scripts.some(([, attributes]) => !isOwn(attributes)),
    'has no language': !html.startsWith(`<!doctype html><html lang="${lang}">`),
    'has not one h1': html.match(/<h1/g)?.length !== 1,
    'has not one main': html.match(/<main/g)?.length !== 1,
    'repeats an id': new Set(ids).size !== ids.length,
    // That of recovery codes only leads on, and has no values of the member.
    'has a form that does not post': forms.some((form) => !/method="post"|class="search"|data-leaves=""/.test(form)),
  };
  const faults = Object.entries(checks).flatMap(([fault, found]) => (found ? [fault] : []));
  return [...faults, ...rawKeys(html).map((key) => `shows ${key}`)];
}

it('The search for faults finds each of them', () => {
  const html = '<body style="a" onload="b()"><script>c</script><p id="d"></p><p id="d">signIn.title</p><form></form>';
  expect(listFaults(html, 'en')).toHaveLength(11);
});

it.each(languages)('Every page in %s is a whole document with texts, own scripts alone and forms that post', (lang) => {
  const ctx = contextFor(lang);
  const pages = Object.entries(everyPage(ctx));
  const faults = pages.flatMap(([name, { page, head }]) =>
    listFaults(renderDocument(ctx, page, { title: 'Title', ...head }), lang).map((fault) => `${name} ${fault}`),
  );
  expect(pages.length).toBeGreaterThan(150);
  expect(faults).toEqual([]);
});

interface ActionRow {
  /** Of what can be done on a page, and not of a form's end. */
  isList: boolean;
  looks: string[];
}

/** Of each row of actions, the look of its buttons in their order. */
function rowsOfActions(html: string): ActionRow[] {
  return [...html.matchAll(/<(div|form)\b[^>]* ?class="actions([^"]*)"/g)].map(({ index, 1: tag, 2: more }) => {
    let depth = 0;
    let end = html.length;
    for (const { 0: found, index: at } of html.slice(index).matchAll(new RegExp(`</?${tag}\\b`, 'g'))) {
      depth += found.startsWith('</') ? -1 : 1;
      if (depth > 0) continue;
      end = index + at;
      break;
    }
    const looks = [...html.slice(index, end).matchAll(/class="button (\w+)/g)].map(([, look = '']) => look);
    return { isList: more === ' main-first', looks };
  });
}

it('The main action is the last of its row on every page, the first in a list, and the only one there', () => {
  const ctx = contextFor('en');
  const rows = Object.entries(everyPage(ctx)).flatMap(([name, { page, head }]) =>
    rowsOfActions(renderDocument(ctx, page, { title: 'Title', ...head })).map((row) => ({ name, ...row })),
  );
  const isMain = (look: string | undefined) => look === 'primary' || look === 'danger';
  expect(rows.filter(({ looks }) => looks.length > 1 && isMain(looks.at(-1))).length).toBeGreaterThan(20);
  const others = ({ isList, looks }: ActionRow) => (isList ? looks.slice(1) : looks.slice(0, -1));
  expect(rows.filter((row) => others(row).some(isMain)).map(({ name }) => name)).toEqual([]);
});

describe('renderPage', () => {
  const ctx = contextFor('en');
  const page = samplePage(ctx, 'terms');
  const render = (head: Parameters<typeof renderDocument>[2]) => renderDocument(ctx, page, head);

  it('The head has stylesheet, font preload, icon, viewport and colour scheme', () => {
    const head = render({ title: 'Terms' }).split('</head>')[0];
    expect(head).toContain('<title>Terms · Foyer</title>');
    expect(head).toContain('<link rel="stylesheet" href="/assets/foyer.css"/>');
    expect(head).toMatch(
      /<link rel="preload" as="font" type="font\/woff2" crossorigin="anonymous" href="\/assets\/figtree\.woff2"\/>/i,
    );
    expect(head).toContain('href="/assets/icon.svg"');
    expect(head).toContain('content="width=device-width, initial-scale=1"');
    expect(head).toContain('<meta name="color-scheme" content="light dark"/>');
    expect(head).not.toContain('refresh');
    expect(head).not.toContain('robots');
  });

  it('The sandbox’s stylesheet is included only where the sandbox is on', () => {
    const sheets = (html: string) =>
      [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href);
    expect(sheets(render({ title: 'Terms' }))).toEqual(['/assets/foyer.css']);
    const own = { ...ctx, assets: { ...ctx.assets, extraCss: '/assets/sandbox.css', brandCss: '/brand.css' } };
    expect(sheets(renderDocument(own, samplePage(own, 'terms'), { title: '' }))).toEqual([
      '/assets/foyer.css',
      '/assets/sandbox.css',
      '/brand.css',
    ]);
  });

  it('The page redirects to an address that cannot break out of its attribute', () => {
    const html = render({ title: 'T', refreshTo: 'https://a.example/?x="><script>alert(1)</script>&y=1' });
    expect(html).toContain(
      'content="0; url=https://a.example/?x=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;y=1"',
    );
    expect(html).not.toContain('<script>');
  });

  it('Markup in a user name, client name or title is shown as text', () => {
    const nasty = '<img src=x onerror=alert(1)>';
    const own = { ...contextFor('en'), member: { ...member, name: nasty } };
    const page = samplePage({ ...own, brand: { name: nasty } }, 'terms-accept');
    const html = renderDocument(own, page, { title: nasty });
    expect(html).not.toContain('<img src=x');
    expect(html.match(/&lt;img src=x/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it('A page without scripts loads none', () => {
    expect(render({ title: 'Terms' })).not.toContain('<script');
    expect(render({ title: 'Terms', scripts: ['password'] })).toContain('src="/assets/password.js"');
  });
});

describe('the sign-in page', () => {
  const render = (name: string, ctx = contextFor('en')) =>
    renderDocument(ctx, samplePage(ctx, name), { title: 'Sign in' });

  it('The fields of the sign-in page are named as browsers and password managers expect', () => {
    const html = render('sign-in-without-passkeys');
    expect(html).toMatch(
      /<input(?=[^>]* name="username")(?=[^>]* autocomplete="username")(?=[^>]* type="text")(?=[^>]* inputmode="email")/i,
    );
    // The last word has a browser offer passkeys there (WebAuthn level 3, section 5.1.4).
    expect(render('sign-in')).toMatch(/<input(?=[^>]* name="username")(?=[^>]* autocomplete="username webauthn")/i);
    expect(html).toMatch(
      /<input(?=[^>]* name="password")(?=[^>]* autocomplete="current-password")(?=[^>]* type="password")/i,
    );
    expect(html).toMatch(/<input(?=[^>]* name="remember")(?=[^>]* value="1")(?=[^>]* type="checkbox")/);
    expect(html).toContain('Password (6 or more characters)');
    expect(html).toContain('Remember me');
  });

  it('Errors are tied to their fields, and the typed values stay except the password', () => {
    const html = render('sign-in-errors');
    const username = /<input[^>]* name="username"[^>]*>/.exec(html)?.[0] ?? '';
    expect(username).toContain('aria-invalid="true"');
    expect(username).toContain('aria-describedby="field-username-error"');
    expect(username).toContain('value="vera@example.com"');
    expect(html).toMatch(/id="field-username-error"[^>]*>.*?Username cannot be empty/s);
    expect(html).toMatch(/id="field-password-error"[^>]*>.*?Password cannot be empty/s);
    expect(/<input[^>]* name="password"[^>]*>/.exec(html)?.[0]).not.toContain(' value=');
    expect(html).toContain('Sign in to continue to Showcase pages.');
  });

  it('An error of the whole form is tied to the password, which has the focus', () => {
    const html = render('sign-in-refused');
    expect(/<input[^>]* name="password"[^>]*>/.exec(html)?.[0]).toContain('aria-describedby="form-error"');
    expect(html).toMatch(/id="form-error"[^>]*>.*?Incorrect email, phone number or password\./s);
  });

  it('An error of the whole form is announced', () => {
    expect(render('sign-in-refused')).toMatch(/role="alert"[^>]*>.*?Incorrect email, phone number or password\./s);
    expect(render('sign-in')).not.toContain('role="alert"');
  });

  it('The sign-in page links only to pages that exist', () => {
    const html = render('sign-in-bare', { ...contextFor('en'), links: {} });
    expect([...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['#content', '/']);
    expect(render('sign-in')).toContain('href="/forgot-password"');
  });
});

describe('pages of the flow', () => {
  const render = (name: string) => renderDocument(contextFor('en'), samplePage(contextFor('en'), name), { title: 'T' });

  it('The page /verify-user carries its fields and says what it does', () => {
    const html = render('verify-user');
    expect(html).toContain('Verifying user profile');
    expect(html).toContain('<input type="hidden" name="authorization_code" value="x8Zr3"/>');
    expect(html).toContain('value="a&quot;b&lt;c"');
    expect(html).toContain('src="/assets/verify-user.js"');
  });

  it('The consent page offers both decisions and names client, address and scopes', () => {
    const html = render('consent');
    expect(html).toMatch(/<button(?=[^>]* name="decision")(?=[^>]* value="allow")/);
    expect(html).toMatch(/<button(?=[^>]* name="decision")(?=[^>]* value="deny")/);
    expect(html).toContain('Ledger &amp; Sons');
    expect(html).toContain('ledger.example');
    expect(html).toContain('See your email address');
    expect(render('consent-native')).toContain('Use “wallet”');
  });

  it('The terms ask for a decision only where they must be accepted', () => {
    expect(render('terms')).not.toContain('name="decision"');
    expect(render('terms-accept')).toMatch(/value="decline".*value="accept"/s);
    expect(render('terms-accept')).toContain('read and accept');
    expect(render('terms-accept')).toContain('<input type="hidden" name="redirect" value="/settings"/>');
  });

  it('The 404 page has the texts of the specification', () => {
    expect(render('not-found')).toContain('Sorry, we couldn’t fetch that page');
    expect(render('not-found')).toContain(
      'The page you’re looking for might have been removed or is temporarily unavailable.',
    );
    expect(render('not-found-oops')).toContain('Oops – page not found');
  });

  it('Sandbox pages say at the top that they are not real', () => {
    for (const name of ['stand-in-search', 'stand-in-main', 'demo', 'demo-signed-in']) {
      expect(render(name)).toContain('Sandbox: nothing here is real.');
    }
    expect(render('sign-in')).not.toContain('Sandbox');
  });

  it('The error page shows its reference', () => {
    expect(render('error-internal')).toContain('<code>4F09A1C27B</code>');
  });
});
