import type { PageContext, PageUser } from '../page-context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Button } from '../parts/button.tsx';
import { FieldFrame, fieldAttributes } from '../parts/field-frame.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Script } from '../parts/script.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';

interface PicturePageProps {
  ctx: PageContext;
  action: string;
  avatar: Pick<PageUser, 'initials' | 'pictureUrl'>;
  /** The name of the file's field. */
  field: string;
  /** There is one to remove. */
  hasPicture: boolean;
  error?: string | undefined;
}

/** A picture of the user: uploaded, replaced or removed. With scripts a large photo is scaled down before it is sent. */
export function PicturePage({ ctx, action, avatar, field, hasPicture, error }: PicturePageProps) {
  const { t } = ctx;
  const words = { error, hint: t('settings.picture.hint') };
  return (
    <AccountAction
      ctx={ctx}
      id="edit-picture"
      title={t('settings.picture.title')}
      lead={t('settings.picture.lead')}
      tab="sign-in"
    >
      <Script ctx={ctx} entry="picture-upload" />
      <form className="form" method="post" action={action} encType="multipart/form-data" noValidate>
        <div className="picture-choice">
          <Avatar member={avatar} size="large" />
          <FieldFrame name={field} label={t('settings.picture.file')} {...words}>
            <input
              type="file"
              accept="image/jpeg,image/png,image/webp"
              data-scaled=""
              required
              {...fieldAttributes(field, words)}
            />
          </FieldFrame>
        </div>
        <ActButtons ctx={ctx} submit={t('settings.save')} tab="sign-in" />
      </form>
      {hasPicture && (
        <form className="form" method="post" action={action}>
          <HiddenFields fields={{ remove: '1' }} />
          <div className="actions">
            <Button kind="link">{t('settings.picture.remove')}</Button>
          </div>
        </form>
      )}
    </AccountAction>
  );
}
