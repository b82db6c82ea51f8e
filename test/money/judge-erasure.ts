import type { Findings } from './findings.ts';
import { type Books, isLive } from './stripe-books.ts';
import type { Member } from './world.ts';

/** O5 of a member who was erased: nothing of theirs is charged any more, and the customer is gone. */
export function judgeErasure({ books, member, findings }: { books: Books; member: Member; findings: Findings }): void {
  const { customerIds, isErased } = member.ledger;
  for (const { id, email } of books.customers) if (email === member.email) customerIds.add(id);
  if (!isErased || findings.isBroken(member)) return;
  const report = (detail: string) => findings.report('O5', member, `after the erasure of the member ${detail}`);
  for (const id of customerIds) {
    if (books.customers.some((one) => one.id === id)) report(`the customer ${id} is there`);
    const live = books.subscriptions.filter((one) => one.customer === id && isLive(one));
    for (const one of live) report(`the subscription ${one.id} is ${one.status}`);
    const draft = books.invoices.filter((one) => one.customer === id && one.status === 'draft');
    for (const one of draft) report(`the invoice ${one.id} will be charged`);
  }
}
