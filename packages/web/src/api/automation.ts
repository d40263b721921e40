import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { listQuery, offsetQuery } from './list.ts'

export type Trigger = Schemas['Trigger']
export type Schedule = Schemas['Schedule']
export type ScheduleRequest = Schemas['CreateSchedule']
export type EventEntry = Schemas['EventLogEntry']
export type EventRequest = Schemas['EmitEvent']
export type Subscription = Schemas['WebhookSubscription']
export type SubscriptionRequest =
  paths['/webhook-subscriptions']['post']['requestBody']['content']['application/json']
export type Delivery = Schemas['WebhookDelivery']
export type TriggerFilters = NonNullable<paths['/triggers']['get']['parameters']['query']>
export type EventFilters = NonNullable<paths['/event-logs']['get']['parameters']['query']>
export type DeliveryFilters = NonNullable<paths['/webhook-deliveries']['get']['parameters']['query']>
export type TestRequest = NonNullable<
  paths['/triggers/test']['post']['requestBody']
>['content']['application/json']

const PAGE = 100

const pathOf = (id: string) => ({ params: { path: { id } } })
const numberOf = (id: number) => pathOf(String(id))

export const triggersQuery = (filters: TriggerFilters) =>
  offsetQuery(['triggers', filters], (offset) =>
    answer(api.GET('/triggers', { params: { query: { ...filters, offset, limit: PAGE } } })),
  )

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['triggers', 'schedule', id],
    queryFn: async () => (await answer(api.GET('/schedules/{id}', pathOf(id)))).data,
  })

export const createSchedule = (body: ScheduleRequest) => answer(api.POST('/schedules', { body }))
export const changeSchedule = (id: string, body: ScheduleRequest) =>
  answer(api.PUT('/schedules/{id}', { ...pathOf(id), body }))
export const removeSchedule = (id: string) => answer(api.DELETE('/schedules/{id}', pathOf(id)))
export const enableSchedule = (id: string) => answer(api.POST('/schedules/{id}/enable', pathOf(id)))
export const disableSchedule = (id: string) => answer(api.POST('/schedules/{id}/disable', pathOf(id)))
export const triggerSchedule = (id: string) => answer(api.POST('/schedules/{id}/trigger', pathOf(id)))

export const testTriggers = (body: TestRequest) => answer(api.POST('/triggers/test', { body }))
export type TestResult = Awaited<ReturnType<typeof testTriggers>>['data'][number]

export const eventsQuery = (filters: EventFilters) =>
  listQuery(['events', filters], (cursor) =>
    answer(api.GET('/event-logs', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  )

/** The newest event of a topic, as an example. */
export const lastEvent = async (topic: string): Promise<EventEntry | undefined> =>
  (await answer(api.GET('/event-logs', { params: { query: { topic, limit: 1 } } }))).data[0]

export const emitEvent = (body: EventRequest) => answer(api.POST('/events/emit', { body }))

export const subscriptionsQuery = queryOptions({
  queryKey: ['webhooks', 'subscriptions'],
  queryFn: async () => (await answer(api.GET('/webhook-subscriptions'))).data,
})

export const createSubscription = (body: SubscriptionRequest) =>
  answer(api.POST('/webhook-subscriptions', { body }))
export const changeSubscription = (id: number, body: Partial<SubscriptionRequest>) =>
  answer(api.PATCH('/webhook-subscriptions/{id}', { ...numberOf(id), body }))
export const removeSubscription = (id: number) =>
  answer(api.DELETE('/webhook-subscriptions/{id}', numberOf(id)))

export const deliveriesQuery = (filters: DeliveryFilters) =>
  listQuery(['webhooks', 'deliveries', filters], (cursor) =>
    answer(api.GET('/webhook-deliveries', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  )

/** Sends an example of an event to a subscription. */
export const testSubscription = (id: number) =>
  answer(api.POST('/webhook-subscriptions/{id}/test', numberOf(id)))

export const redeliver = (id: number) => answer(api.POST('/webhook-deliveries/{id}/redeliver', numberOf(id)))

export const incomingQuery = queryOptions({
  queryKey: ['webhooks', 'incoming'],
  queryFn: async () => (await answer(api.GET('/incoming-webhooks'))).data,
})

export const createIncoming = (name: string) => answer(api.POST('/incoming-webhooks', { body: { name } }))
export const removeIncoming = (name: string) =>
  answer(api.DELETE('/incoming-webhooks/{name}', { params: { path: { name } } }))
