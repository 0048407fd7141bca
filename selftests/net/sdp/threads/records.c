// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of several threads that write records into one socket while others read at its peer.
 *
 * TCP keeps the data of a send() together as long as it need not wait for room, and that of a
 * recv() as long as it need not wait for data. A thread that waits lets others in. So records are
 * whole only if few are in flight and one thread reads. Otherwise only this holds: every byte
 * arrives once. To show this, a record consists of cells that tell their number. A cell that was
 * cut is detected by its sum or its missing bytes. The pieces of all cut cells together must make
 * up the missing cells.
 */
#include <semaphore.h>

#include "threads.h"

enum {
	SENDERS = 4,
	RECEIVERS = 4,
	CELL = 9,			/* no divisor of a message: messages end within cells */
	RECORD_CELLS = 55,
	RECORD = CELL * RECORD_CELLS,
	WINDOW = 12,			/* records in flight, if bounded */
	RECORDS_MAX = 400,
};

struct exchange {
	struct pair p;
	int records;			/* of each sender */
	bool bounded;
	sem_t window;
	atomic_int senders_left;
	atomic_int records_left;	/* that no receiver has begun to read */
	pthread_mutex_t lock;		/* for the members below */
	unsigned char seen[SENDERS][RECORDS_MAX * RECORD_CELLS];
	long stray[256];		/* bytes outside of whole cells, by value */
	long cut, torn;			/* cells, records */
};

struct sender {
	struct exchange *x;
	int id;
};

/* Only the first byte has its upper bit set. The last five are a sum that random data fails. */
static void cell_make(unsigned char cell[CELL], int sender, unsigned int number)
{
	unsigned int sum = (number * SENDERS + sender + 1) * 2654435761u;
	int i;

	sum ^= sum >> 15;
	cell[0] = 0x80 | sender;
	for (i = 0; i < 3; i++)
		cell[1 + i] = number >> 7 * i & 0x7f;
	for (i = 0; i < 5; i++)
		cell[4 + i] = sum >> 7 * i & 0x7f;
}

/* The number of a whole cell, and its sender in *@sender; -1 if it is not a whole cell. */
static int cell_number(const unsigned char *cell, int *sender)
{
	int number = cell[1] | cell[2] << 7 | cell[3] << 14;
	unsigned char want[CELL];

	*sender = cell[0] & 0x7f;
	if (*sender >= SENDERS)
		return -1;
	cell_make(want, *sender, number);
	return memcmp(want, cell, CELL) ? -1 : number;
}

static void *send_records(void *arg)
{
	struct sender *me = arg;
	struct exchange *x = me->x;
	unsigned char record[RECORD];
	int r, i;

	for (r = 0; r < x->records; r++) {
		for (i = 0; i < RECORD_CELLS; i++)
			cell_make(record + i * CELL, me->id, r * RECORD_CELLS + i);
		if (x->bounded)
			sem_wait(&x->window);
		need_errno(send(x->p.c, record, RECORD, MSG_NOSIGNAL) == RECORD, "send");
	}
	/* If bytes are lost, the receivers see an early end instead of waiting forever. */
	if (atomic_fetch_sub(&x->senders_left, 1) == 1)
		need_errno(!shutdown(x->p.c, SHUT_WR), "shutdown");
	return NULL;
}

/* Each record must be one send(), and the records of each sender must arrive in order. */
static void *receive_in_order(void *arg)
{
	struct exchange *x = arg;
	unsigned char record[RECORD];
	int next[SENDERS] = { 0 }, left, sender, number, i;

	for (left = x->records * SENDERS; left; left--) {
		recv_all(x->p.s, record, RECORD);
		for (i = 0; i < RECORD_CELLS; i++) {
			number = cell_number(record + i * CELL, &sender);
			need(number >= 0 && number == next[sender],
			     "%s: cell %d of a record is %d of sender %d, due was %d",
			     family_name(), i, number, sender, next[sender]);
			need((record[0] & 0x7f) == sender, "%s: record torn at its cell %d",
			     family_name(), i);
			next[sender]++;
		}
		sem_post(&x->window);
	}
	need(!recv(x->p.s, record, 1, 0), "more than was sent");
	return NULL;
}

static void note_record(struct exchange *x, const unsigned char *record)
{
	int at = 0, sender, number, first = -1;
	bool torn = false;

	pthread_mutex_lock(&x->lock);
	while (at < RECORD) {
		number = RECORD - at >= CELL ? cell_number(record + at, &sender) : -1;
		if (number < 0 || number >= x->records * RECORD_CELLS) {
			x->stray[record[at++]]++;
			torn = true;
			continue;
		}
		need(!x->seen[sender][number], "%s: cell %d of sender %d came twice",
		     family_name(), number, sender);
		x->seen[sender][number] = 1;
		if (first < 0)
			first = sender;
		torn |= sender != first;
		at += CELL;
	}
	x->torn += torn;
	pthread_mutex_unlock(&x->lock);
}

static void *receive_records(void *arg)
{
	struct exchange *x = arg;
	unsigned char record[RECORD];

	while (atomic_fetch_sub(&x->records_left, 1) > 0) {
		recv_all(x->p.s, record, RECORD);
		note_record(x, record);
	}
	return NULL;
}

/* The pieces minus the bytes of all cells that nobody has seen leave nothing. */
static void check_pieces(struct exchange *x)
{
	unsigned char cell[CELL];
	int sender, number, i;

	for (sender = 0; sender < SENDERS; sender++) {
		for (number = 0; number < x->records * RECORD_CELLS; number++) {
			if (x->seen[sender][number])
				continue;
			x->cut++;
			cell_make(cell, sender, number);
			for (i = 0; i < CELL; i++)
				x->stray[cell[i]]--;
		}
	}
	for (i = 0; i < 256; i++)
		need(!x->stray[i], "%s: %ld bytes %#x too %s (%ld cells were cut)", family_name(),
		     labs(x->stray[i]), i, x->stray[i] > 0 ? "many" : "few", x->cut);
}

static void exchange_run(int buffer, int records, bool bounded)
{
	static struct exchange x;
	int receivers = bounded ? 1 : RECEIVERS, i;
	struct sender senders[SENDERS];
	pthread_t threads[SENDERS + RECEIVERS];
	long long start = now_ms();

	x = (struct exchange){ .p = pair_sized(buffer), .records = records, .bounded = bounded,
			       .senders_left = SENDERS, .records_left = records * SENDERS,
			       .lock = PTHREAD_MUTEX_INITIALIZER };
	sem_init(&x.window, 0, WINDOW);
	/* With so few bytes in flight TCP would mostly wait for delayed acknowledgements. */
	set_int(x.p.c, IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = 0; i < receivers; i++)
		threads[i] = thread_start(bounded ? receive_in_order : receive_records, &x);
	for (i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){ .x = &x, .id = i };
		threads[receivers + i] = thread_start(send_records, &senders[i]);
	}
	for (i = 0; i < receivers + SENDERS; i++)
		pthread_join(threads[i], NULL);
	if (!bounded)
		check_pieces(&x);
	printf("# %s, buffers of %d: %d records, %ld torn, %ld cells cut, %lld ms\n", family_name(),
	       buffer, records * SENDERS, x.torn, x.cut, now_ms() - start);
	close(x.p.c);
	close(x.p.s);
}

void whole_records(void)
{
	exchange_run(0, scaled(400), true);
}

void shared_stream(void)
{
	exchange_run(0, scaled(400), false);
	exchange_run(8192, scaled(200), false);
}

/* Both ends write, and nobody reads until both writers wait. */
enum { ONE_WAY = 1 << 20 };

struct writer {
	int fd;
	_Atomic pid_t tid;
};

static void *write_stream(void *arg)
{
	struct writer *w = arg;

	w->tid = gettid();
	pattern_write(w->fd, 0, ONE_WAY);
	need_errno(!shutdown(w->fd, SHUT_WR), "shutdown");
	return NULL;
}

/* Not pattern_read(), whose buffer is shared by all threads. */
static void *read_stream(void *arg)
{
	unsigned char data[16384];
	int fd = *(int *)arg;
	long at = 0;
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
		pattern_check(at, data, n);
		at += n;
	}
	need_errno(!n, "recv");
	need(at == ONE_WAY, "%ld of %d bytes", at, ONE_WAY);
	return NULL;
}

void writers_only(void)
{
	struct pair p = pair_sized(32768);
	struct writer writers[2] = { { .fd = p.c }, { .fd = p.s } };
	pthread_t threads[4];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = thread_start(write_stream, &writers[i]);
	for (i = 0; i < 2; i++) {
		while (!writers[i].tid)
			pause_ms(1);
		await_asleep(writers[i].tid);
	}
	for (i = 0; i < 2; i++)
		threads[2 + i] = thread_start(read_stream, &writers[i].fd);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close(p.c);
	close(p.s);
}
