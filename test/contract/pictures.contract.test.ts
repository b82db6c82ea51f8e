import { listPictureOwners, sweepPictures } from '../../server/users/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { aUser, NOW_MS } from './rows.ts';

describe.each(backends)('uploaded pictures on $name', ({ open }) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());

  it('Pictures of users whom an earlier release has erased are deleted a page at a time, and no others', async () => {
    const { db } = stores.database;
    const users = Array.from({ length: 7 }, () => aUser());
    const ids = users.map(({ id }) => id).toSorted();
    await db.insertInto('users').values(users).execute();
    const picture = { type: 'image/png', content: 'iVBORw0KGgo=', createdAt: NOW_MS };
    for (const id of ids)
      await db
        .insertInto('uploadedPictures')
        .values({ userId: id, name: `picture-${id}`, ...picture })
        .execute();
    const erased = ids.filter((_, index) => index % 2 === 0);
    // As the earlier release does it, which does not know the table of pictures.
    await db.deleteFrom('users').where('id', 'in', erased).execute();
    const left = async () => (await listPictureOwners(db, null, 100)).map(({ userId }) => userId);
    const first = await sweepPictures(db, null, 3);
    expect(first).toBe(ids[2]);
    expect(await left()).toEqual(ids.filter((id) => id !== ids[0] && id !== ids[2]));
    let next = first;
    for (let turns = 0; next !== null && turns < 5; turns += 1) next = await sweepPictures(db, next, 3);
    expect(next).toBeNull();
    expect(await left()).toEqual(ids.filter((id) => !erased.includes(id)));
  });
});
