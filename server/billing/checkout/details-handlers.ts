import { CheckoutDetailsPage } from '../../../views/billing/checkout-details-page.tsx';
import { pageForm } from '../../../views/page-context.ts';
import {
  listOpenNames,
  type RefusedForm,
  submitAction,
  toControls,
  toTyped,
  type WithKeptInput,
} from '../../http/index.ts';
import { detailsForm, saveDetailsAction, toDetailsTexts } from '../details/details-form.ts';
import { listCountries } from '../details/details-view.ts';
import type { CheckoutRequest } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { unavailableNotice } from './checkout-texts.ts';

type DetailsPageState = Partial<Pick<RefusedForm<typeof detailsForm>, 'errors' | 'status'>> & {
  values: Record<keyof typeof detailsForm, string>;
  notice?: { kind: 'error'; text: string; duration: 'never' };
};

function render(r: CheckoutRequest, view: DetailsPageState): void {
  const { flow } = r.checkout;
  const state = r.viewAt<DetailsPageState & WithKeptInput>(flow.billingDetails, view);
  if (!state) return;
  const { status, keptInput, ...rest }: Partial<DetailsPageState> & WithKeptInput = state;
  r.render(
    CheckoutDetailsPage,
    {
      steps: flow.kind,
      action: flow.billingDetails,
      backHref: flow.summary,
      controls: toControls(detailsForm),
      countries: listCountries(r.lang),
      values: view.values,
      errors: {},
      ...rest,
      ...(keptInput && { values: toTyped(detailsForm, keptInput) }),
    },
    {
      title: 'payment.details.title',
      address: flow.billingDetails,
      status,
      search: flow.continuation.search,
      keeps: { form: pageForm, names: listOpenNames(detailsForm) },
    },
  );
}

export async function showDetails(r: CheckoutRequest, deps: CheckoutDeps): Promise<void> {
  const { user } = r.checkout;
  const { details } = await deps.membership.findDetails(user.id);
  render(r, { values: toDetailsTexts(user, details) });
}

/** POST: the amounts of the next page depend on the details, so that Stripe must have them before it. */
export async function submitDetails(r: CheckoutRequest, deps: CheckoutDeps): Promise<void> {
  const { flow, user } = r.checkout;
  const result = await submitAction(r, saveDetailsAction, { deps, caller: { user } });
  if (result.kind === 'saved') return r.redirect(flow.summary);
  if (result.kind === 'noted') {
    const { typed } = r.form(detailsForm);
    const { title: text = '' } = unavailableNotice(r.t, 'update');
    return render(r, { status: 503, values: typed, notice: { kind: 'error', text, duration: 'never' } });
  }
  const { status, typed: values, errors, text } = result;
  const notice = text === undefined ? {} : { notice: { kind: 'error', text, duration: 'never' } as const };
  render(r, { status, values, errors, ...notice });
}
