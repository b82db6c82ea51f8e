import { Router } from 'express';
import { createElement } from 'react';
import { ApiReferencePage } from '../../views/api-reference/api-reference-page.tsx';
import type { ApiDocument, DocumentedProblem } from '../../views/api-reference/document.ts';
import { keysIn } from '../shared/index.ts';
import { servePublicly } from './api-document.ts';
import { apiReferencePath } from './api-names.ts';
import { methodNotAllowed } from './error-pages.ts';
import type { Pages } from './pages.ts';
import { problemDocs } from './problem-docs.ts';
import { apiProblems, problemType } from './problems.ts';

const listProblems = (): DocumentedProblem[] =>
  keysIn(apiProblems).map((name) => {
    const { status, title } = apiProblems[name];
    return { name, type: problemType(name), status, title, ...problemDocs[name] };
  });

/**
 * `GET /docs/api`: the document of the JSON API as a page. It is rendered for the first visitor and kept: it knows no
 * user, and is in English like the document.
 */
export function apiReferenceRoute(pages: Pages, describe: () => ApiDocument): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const render = () => {
    const document = describe();
    const { html, policy } = pages.renderPublic(
      (ctx) =>
        createElement(ApiReferencePage, { ctx, document, problems: listProblems(), documentHref: '/openapi.json' }),
      { title: document.info.title },
    );
    return { type: 'html', text: html, headers: { 'Content-Security-Policy': policy } } as const;
  };
  router.route(apiReferencePath).get(servePublicly(render)).all(methodNotAllowed('GET', 'HEAD'));
  return router;
}
