import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { everyBot, parseSearch, stringifySearch } from './api/address.js'
import { basePath, isSignedOut } from './api/client.js'
import { queryClient, read } from './api/queries.js'
import { loadRole } from './api/role.js'
import { Broken, Frame } from './frame/frame.js'
import { JoinScreen, NoWorkspace } from './frame/join.js'
import { ResetScreen } from './frame/reset.js'
import { SignInScreen } from './frame/sign-in.js'
import { mayBeSignedIn } from './frame/signed-in.js'
import { SingleSignOnScreen } from './frame/single-sign-on.js'
import { readRemembered } from './ui/remembered.js'
import { ErrorPanel, Skeleton } from './ui/states.js'

const root = createRootRoute({ component: Outlet })

/** A workspace that may be on a later page of the list; undefined if it is not that of the reader any more. */
async function findWorkspace(id: string | undefined): Promise<{ id: string } | undefined> {
  if (id === undefined) return undefined
  return await queryClient
    .ensureQueryData(read({ workspaceId: id }, 'getWorkspace', { id }))
    .catch(() => undefined)
}

/** `/` leads to the workspace that this browser showed last, or to the first one. */
const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  loader: async () => {
    if (!mayBeSignedIn()) throw redirect({ to: '/sign-in' })
    const { workspaces, meta } = await queryClient
      .ensureQueryData(read({}, 'listWorkspaces', { pageSize: 100 }))
      .catch((error: unknown) => {
        throw isSignedOut(error) ? redirect({ to: '/sign-in' }) : error
      })
    const last = readRemembered<string | undefined>('workspace', undefined)
    const workspace =
      workspaces.find(({ id }) => id === last) ??
      (meta.nextToken === undefined ? undefined : await findWorkspace(last)) ??
      workspaces[0]
    if (workspace !== undefined) throw redirect({ to: `/${workspace.id}/${everyBot}/home` })
  },
  component: NoWorkspace,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignInScreen,
})

const join = createRoute({
  getParentRoute: () => root,
  path: '/join',
  component: JoinScreen,
})

const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: ResetScreen,
})

const singleSignOn = createRoute({
  getParentRoute: () => root,
  path: '/sso',
  component: SingleSignOnScreen,
})

const frame = createRoute({
  getParentRoute: () => root,
  path: '/$workspace/$bot',
  loader: ({ params }) => loadRole(params.workspace),
  component: Frame,
})

const frameStart = createRoute({
  getParentRoute: () => frame,
  path: '/',
  loader: ({ params }) => {
    throw redirect({ to: `/${params.workspace}/${params.bot}/home` })
  },
})

/**
 * A screen with its open item, if it has any: both are the same component, so that the list stays. Its code is
 * loaded when a link to it is pointed at; the router's own way would reload the page when that fails.
 */
function screen<Name extends string>(
  path: string,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) {
  const Component = lazy(async () => {
    const component: () => ReactNode = (await load())[name]
    return { default: component }
  })
  return createRoute({
    getParentRoute: () => frame,
    path: `/${path}/{-$item}`,
    loader: () => load().then(nothing, nothing),
    component: () => (
      <Suspense fallback={<Skeleton />}>
        <Component />
      </Suspense>
    ),
  })
}

/** A failure is shown where the component is. */
const nothing = () => null

const screens = [
  screen('home', () => import('./screens/home/home.js'), 'HomeScreen'),
  screen('workspace', () => import('./screens/workspace/workspace.js'), 'WorkspaceScreen'),
  screen('account', () => import('./screens/account/account.js'), 'AccountScreen'),
  screen('data', () => import('./screens/data/data.js'), 'DataScreen'),
  screen(
    'integrations',
    () => import('./screens/integrations/integrations.js'),
    'IntegrationsScreen',
  ),
  screen('files', () => import('./screens/files/files.js'), 'FilesScreen'),
  screen('search', () => import('./screens/search/search.js'), 'SearchScreen'),
  screen('jobs', () => import('./screens/jobs/jobs.js'), 'JobsScreen'),
  screen(
    'conversations',
    () => import('./screens/conversations/conversations.js'),
    'ConversationsScreen',
  ),
  screen('try', () => import('./screens/try/try.js'), 'TryScreen'),
  screen('bots', () => import('./screens/bots/bots.js'), 'BotsScreen'),
  screen('deliveries', () => import('./screens/deliveries/deliveries.js'), 'DeliveriesScreen'),
  screen('logs', () => import('./screens/logs/logs.js'), 'LogsScreen'),
]

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    signIn,
    join,
    reset,
    singleSignOn,
    frame.addChildren([frameStart, ...screens]),
  ]),
  basepath: basePath === '' ? '/' : basePath,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Skeleton />,
  defaultErrorComponent: ({ error }) => <Broken error={error} />,
  defaultNotFoundComponent: () => <ErrorPanel error={new Error('There is no such page.')} />,
})
