import { ErrorPage } from '../../../views/errors/error-page.tsx';
import { errorKinds, errorTexts } from '../../../views/errors/error-texts.ts';
import { NotFoundPage } from '../../../views/errors/not-found-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

/** The pages that say what is wrong. */
export function errorSamples(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const errors = Object.fromEntries(
    errorKinds.map((kind) => [
      `error-${kind}`,
      {
        page: (
          <ErrorPage
            ctx={ctx}
            status={500}
            reference="4F09A1C27B"
            action={{ href: '/', label: t('errors.home') }}
            {...errorTexts(t, kind, { retryAfterSeconds: 600 })}
          />
        ),
      },
    ]),
  );
  return {
    'not-found': { page: <NotFoundPage ctx={ctx} variant="fetch" homeHref="/" /> },
    'not-found-oops': { page: <NotFoundPage ctx={signedIn} variant="oops" homeHref="/" /> },
    ...errors,
  };
}
