import { LinkConfirmationPage } from '../../../views/federation/link-confirmation-page.tsx';
import { ReusedPage } from '../../../views/federation/reused-page.tsx';
import { UnsolicitedResponsePage } from '../../../views/federation/unsolicited-response-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

/** The pages between a provider and a sign-in. */
export function federationSamples(ctx: PageContext): Record<string, Sample> {
  const unasked = { ctx, action: '/federation/acme/finish', fields: { ticket: 'x8Zr3' }, backHref: '/' };
  const offer = { ctx, action: '/federation/link', email: member.email };
  const reused = { ctx, action: '/federation/link/account', provider: 'Acme & Sons', backHref: '/' };
  return {
    offer: {
      page: <LinkConfirmationPage {...offer} provider="Google" there={{ name: 'Ada Lovelace', email: member.email }} />,
    },
    'offer-nameless': {
      page: <LinkConfirmationPage {...offer} provider="Acme & Sons" there={{ name: '', email: member.email }} />,
    },
    'keep-link': {
      page: (
        <LinkConfirmationPage
          {...offer}
          about="keepLink"
          provider="Acme & Sons"
          there={{ name: 'Ada Byron', email: 'byron@acme.example' }}
        />
      ),
    },
    reused: { page: <ReusedPage {...reused} there={{ name: 'Ada Byron', email: 'byron@acme.example' }} /> },
    'reused-nameless': { page: <ReusedPage {...reused} there={{ name: '', email: '' }} /> },
    unasked: {
      page: (
        <UnsolicitedResponsePage
          {...unasked}
          provider="Acme & Sons"
          there={{ name: 'Ada Lovelace', email: member.email }}
        />
      ),
    },
    'unasked-nameless': {
      page: <UnsolicitedResponsePage {...unasked} provider="Acme" there={{ name: '', email: '' }} />,
    },
  };
}
