import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { textsFor } from '../texts.ts';
import { ButtonParts } from './parts/buttons.tsx';
import { ChoiceParts } from './parts/choices.tsx';
import { ContentParts } from './parts/content.tsx';
import { FieldParts } from './parts/fields.tsx';
import { MessageParts } from './parts/messages.tsx';
import { NavigationParts } from './parts/navigation.tsx';

const groups = [
  { id: 'buttons', Parts: ButtonParts },
  { id: 'fields', Parts: FieldParts },
  { id: 'choices', Parts: ChoiceParts },
  { id: 'navigation', Parts: NavigationParts },
  { id: 'content', Parts: ContentParts },
  { id: 'messages', Parts: MessageParts },
] as const;

/** Every part of pages, in every state. */
export function PartsPage({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <div className="page-head" id="top">
        <h1>{t('parts.title')}</h1>
        <p className="lead muted">{t('parts.lead')}</p>
      </div>
      {groups.map(({ id, Parts }) => (
        <section className="part-group" key={id} id={`part-${id}`} aria-labelledby={`part-${id}-title`}>
          <h2 id={`part-${id}-title`}>{t(`parts.groups.${id}`)}</h2>
          <Parts ctx={ctx} />
        </section>
      ))}
    </PlainLayout>
  );
}
