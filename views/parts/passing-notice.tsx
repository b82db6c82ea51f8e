import type { HTMLAttributes, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';
import { Notice, type NoticeKind } from './notice.tsx';

export interface PassingNoticeProps {
  kind: NoticeKind;
  /** A short title above the text. */
  title?: string | undefined;
  text: string;
  /** Its duration, without the time while the pointer or focus is on it. */
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

/** A notice that disappears by itself with scripts. Important messages use `Notice`. */
export function PassingNotice({ ctx, ...props }: { ctx: PageContext } & PassingNoticeProps) {
  return <Island ctx={ctx} name="passing-notice" load="idle" view={PassingNoticeView} props={props} />;
}
