/**
 * The part of the tests that a run has: `usual` has what protects a change, `long` what that leaves out (the files
 * `*.long.test.ts`, and `describeSlow` on PostgreSQL), `all` has both, and `sqlite` has all but `describeSlow` on PostgreSQL.
 */
export const part = process.env.BOTSTEAD_TESTS ?? 'usual'
