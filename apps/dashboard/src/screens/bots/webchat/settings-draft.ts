import type { WebchatSettings } from '@botstead/contract'
import type { WebchatPatch } from '../queries.js'

const texts = [
  'botName',
  'botAvatar',
  'botDescription',
  'language',
  'greeting',
  'composerPlaceholder',
  'footer',
] as const
const rest = [
  'color',
  'themeMode',
  'position',
  'allowFileUpload',
  'feedbackEnabled',
  'conversationHistory',
] as const

/** The settings as a form has them: texts that are not set are empty, questions are lines. */
export interface Draft
  extends Record<(typeof texts)[number], string>,
    Pick<WebchatSettings, (typeof rest)[number]> {
  questions: string
}

export function draftOf(settings: WebchatSettings): Draft {
  return {
    botName: settings.botName,
    botAvatar: settings.botAvatar ?? '',
    botDescription: settings.botDescription ?? '',
    language: settings.language ?? '',
    greeting: settings.greeting ?? '',
    composerPlaceholder: settings.composerPlaceholder ?? '',
    footer: settings.footer ?? '',
    color: settings.color,
    themeMode: settings.themeMode,
    position: settings.position,
    allowFileUpload: settings.allowFileUpload,
    feedbackEnabled: settings.feedbackEnabled,
    conversationHistory: settings.conversationHistory,
    questions: settings.suggestedQuestions.join('\n'),
  }
}

/** The settings that a draft means, with empty texts, so that a preview forgets what they were before. */
export function settingsOf({ questions, ...settings }: Draft): WebchatSettings {
  return { ...settings, suggestedQuestions: linesOf(questions) }
}

/** The changes of a draft. An empty text unsets a value, so that it follows from the bot again. */
export function patchOf(before: WebchatSettings, draft: Draft): WebchatPatch {
  const old = draftOf(before)
  const isChanged = (name: keyof Draft) => draft[name] !== old[name]
  return {
    ...Object.fromEntries(
      texts.filter(isChanged).map((name) => [name, draft[name] === '' ? null : draft[name]]),
    ),
    ...Object.fromEntries(rest.filter(isChanged).map((name) => [name, draft[name]])),
    ...(isChanged('questions') && { suggestedQuestions: linesOf(draft.questions) }),
  }
}

/** The lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
