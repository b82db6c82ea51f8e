import { BillingDetailsPage } from '../../../views/account/billing-details-page.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { detailsForm, listCountries, saveDetailsAction, toDetailsTexts, toDetailsView } from '../../billing/index.ts';
import { requireUser } from '../../sign-in/index.ts';
import { membershipPageAfter } from '../notices.ts';
import { formAct, formDraft, openForm, settingsPage } from '../settings-page.ts';

/** Address, company and VAT id for invoices. They are no credential, so any session suffices. */
export const billingDetailsPage = settingsPage({
  path: `${membershipPath}/details`,
  title: 'payment.details.title',
  guard: requireUser,
  Page: BillingDetailsPage,
  async toProps(r, { membership }) {
    const state = await membership.findDetails(r.user.id);
    return {
      ...openForm(detailsForm, toDetailsTexts(r.user, state.details)),
      countries: listCountries(r.lang),
      vatIdStatus: toDetailsView(r, r.user, state).vatId,
    };
  },
  draft: formDraft(detailsForm),
  act: formAct({
    action: saveDetailsAction,
    toProblem: ({ t }, { text }) => {
      const failed = t('settings.TAB_USER_DATA_MESSAGE_EROR');
      return text === undefined ? { text: failed } : { title: failed, text };
    },
    after: (_r, _deps, { kind }) => membershipPageAfter(kind === 'noted' ? 'details-noted' : 'details'),
  }),
});
