/** The baseline for pages: Express with one route that renders the same tree as Foyer's sign-in page. */
import express from 'express';
import { createElement } from 'react';
import type * as DepsModule from '../../../server/deps.ts';
import type * as HttpModule from '../../../server/http/index.ts';
import type * as Texts from '../../../server/sign-in/sign-in-texts.ts';
import type { PageContext } from '../../../views/page-context.ts';
import type * as SignIn from '../../../views/sign-in/sign-in-page.tsx';
import { built } from '../built.ts';
import { serve } from '../rpc.ts';
import { type Listening, usage } from '../setting.ts';
import { listen } from './listen.ts';

async function start(): Promise<Listening> {
  const { loadAssets, renderDocument, toControls, translator } = await built<typeof HttpModule>('server/http/index');
  const { builtClientDir } = await built<typeof DepsModule>('server/deps');
  const { signInForm } = await built<typeof Texts>('server/sign-in/sign-in-texts');
  const { SignInPage } = await built<typeof SignIn>('views/sign-in/sign-in-page');
  const t = translator('en');
  const ctx: PageContext = {
    lang: 'en',
    t,
    nonce: 'AAAAAAAAAAAAAAAAAAAAAA==',
    brand: { name: 'Foyer' },
    assets: loadAssets(builtClientDir(`${import.meta.dirname}/../../../dist/server`)),
    links: { terms: '/tos' },
    languageForm: { action: '/language', redirect: '/' },
  };
  const app = express();
  app.get('/', (_req, res) => {
    const page = createElement(SignInPage, {
      ctx,
      action: '/sign-in',
      controls: toControls(signInForm),
      values: { username: '', remember: false },
      errors: {},
      providerButtons: { top: [], facebook: [], others: [], open: true },
    });
    res.type('html').send(renderDocument(ctx, page, { title: t('signIn.title') }));
  });
  return listen(app);
}

const handlers = { start, usage };
export type BarePage = typeof handlers;
serve(handlers);
