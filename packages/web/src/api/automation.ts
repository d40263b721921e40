import { answer, api, byId, dataOf, type BodyOf, type Schemas, type SearchOf } from './client.ts'
import { dataQuery, listQuery, offsetQuery } from './list.ts'

export type Trigger = Schemas['Trigger']
export type Schedule = Schemas['Schedule']
export type ScheduleRequest = Schemas['CreateSchedule']
export type EventEntry = Schemas['EventLogEntry']
export type Subscription = Schemas['WebhookSubscription']
export type SubscriptionRequest = BodyOf<'/webhook-subscriptions', 'post'>
export type Delivery = Schemas['WebhookDelivery']
export type TriggerFilters = SearchOf<'/triggers'>
export type EventFilters = SearchOf<'/event-logs'>
export type DeliveryFilters = SearchOf<'/webhook-deliveries'>
export type TestRequest = BodyOf<'/triggers/test', 'post'>

const PAGE = 100

export const triggersQuery = (filters: TriggerFilters) =>
  offsetQuery(['triggers', filters], (offset) =>
    api.GET('/triggers', { params: { query: { ...filters, offset, limit: PAGE } } }),
  )

export const scheduleQuery = (id: string) =>
  dataQuery(['triggers', 'schedule', id], () => api.GET('/schedules/{id}', byId(id)))

export const testTriggers = (body: TestRequest) => answer(api.POST('/triggers/test', { body }))
export type TestResult = Awaited<ReturnType<typeof testTriggers>>['data'][number]

export const eventsQuery = (filters: EventFilters) =>
  listQuery(['events', filters], (cursor) =>
    api.GET('/event-logs', { params: { query: { ...filters, cursor, limit: PAGE } } }),
  )

/** The newest event of a topic, as an example. */
export const lastEvent = async (topic: string): Promise<EventEntry | undefined> =>
  (await dataOf(api.GET('/event-logs', { params: { query: { topic, limit: 1 } } })))[0]

export const subscriptionsQuery = dataQuery(['webhooks', 'subscriptions'], () =>
  api.GET('/webhook-subscriptions'),
)

export const changeSubscription = (id: number, body: Partial<SubscriptionRequest>) =>
  answer(api.PATCH('/webhook-subscriptions/{id}', { ...byId(id), body }))

export const deliveriesQuery = (filters: DeliveryFilters) =>
  listQuery(['webhooks', 'deliveries', filters], (cursor) =>
    api.GET('/webhook-deliveries', { params: { query: { ...filters, cursor, limit: PAGE } } }),
  )

export const incomingQuery = dataQuery(['webhooks', 'incoming'], () => api.GET('/incoming-webhooks'))
