import type { HTMLAttributes, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';
import { Notice, type NoticeKind } from './notice.tsx';

export interface PassingNoticeProps {
  kind: NoticeKind;
  /** A short title above the text. */
  title?: string | undefined;
  text: string;
  /** How long it stays, not counting while the member points at it or is in it. */
  durationMs: number;
}

interface PassingNoticeHandlers {
  isHidden?: boolean;
  frame?: Ref<HTMLDivElement>;
  on?: Pick<HTMLAttributes<HTMLElement>, 'onBlur' | 'onFocus' | 'onPointerEnter' | 'onPointerLeave'>;
}

export function PassingNoticeView({
  kind,
  title,
  text,
  isHidden,
  frame,
  on,
}: PassingNoticeProps & PassingNoticeHandlers) {
  return (
    <div className="passing" hidden={isHidden} ref={frame} {...on}>
      <Notice kind={kind} title={title}>
        {text}
      </Notice>
    </div>
  );
}

/** A notice that goes away by itself where scripts run. What must be read is a `Notice`. */
export function PassingNotice({ ctx, ...props }: { ctx: PageContext } & PassingNoticeProps) {
  return <Island ctx={ctx} name="passing-notice" load="idle" view={PassingNoticeView} props={props} />;
}
