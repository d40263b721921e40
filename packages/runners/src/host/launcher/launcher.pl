# The launcher for systems with Perl: a tenth of the memory of a Node process and half the work for each command.
# launcher.ts is its equivalent in TypeScript; protocol.ts describes the messages. The arguments are the folder of the
# pipes, the processor architecture in Node's words, and `no-new-privileges` if commands gain none by setuid programs.
#
# After a fork, the first write to each page of memory, and in the new process also the first use of each part of the
# program, costs 1 to 4 microseconds: more than the system calls themselves. Therefore it loads no modules (POSIX alone
# doubles the pages), prepares in its own process what the commands of a group inherit, forks for all of them one after
# the other, and the new processes make system calls only.
use strict;

my $READ_BYTES = 65536;
# A command that ends within the last microsecond before `select` is noticed after this time.
my $POLL_S = 0.05;
# The start of a command is reported after at most this time, or together with other replies.
my $START_S = 0.01;
my $MOST_SWEEPS = 1000;
my $SWEEP_S = 0.01;
my $KERNEL_THREAD = 0x00200000;
# Constants of Linux on the architectures below.
my ($O_WRONLY, $O_NONBLOCK, $F_SETFL, $EINTR, $WNOHANG, $PR_SET_CHILD_SUBREAPER) = (1, 0x800, 4, 4, 1, 36);
my $PR_SET_NO_NEW_PRIVS = 38;
my ($ENOENT, $ENOTDIR) = (2, 20);
my ($AT_FDCWD, $SIGCHLD, $S_IFIFO, $FOR_ALL) = (-100, 17, 0010000, 0666);
# In the new process, instead of the pid.
my ($NOT_EXECUTED, $NOT_READY) = (-2, -3);

my ($pipe_folder, $architecture, $privileges) = @ARGV;
# System calls without an equivalent in the language, or that touch fewer pages than it.
my (
    $SETSID, $SETGROUPS, $SETRESGID, $SETRESUID, $PRCTL, $OPENAT, $CLOSE, $FCNTL, $CHDIR, $CLONE, $EXECVE, $MKNODAT
) = @{
    {   x64   => [112, 116, 119, 117, 157, 257, 3,  72, 80, 56,  59,  259],
        arm64 => [157, 159, 149, 147, 167, 56,  57, 25, 49, 220, 221, 33],
    }->{$architecture} // die "no system calls are known for $architecture\n"
};

# Commands inherit it.
!defined $privileges || syscall($PRCTL, $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 or die "no_new_privs: $!\n";

# Inherited descriptors must not be passed on to commands.
if (opendir my $open, '/proc/self/fd') {
    for (grep { /\A\d+\z/ && $_ > 2 && $_ != fileno $open } readdir $open) { open my $inherited, "<&=$_" }
}
open my $requests, '<&', \*STDIN  or die;
open my $replies,  '>&', \*STDOUT or die;
# Without this file, which lists the children of this process, every run looks for orphans itself.
open my $children, '<', "/proc/self/task/$$/children";
open STDIN, '<', '/dev/null' or die;
# Descriptors 1 and 2 are free: the next two files that are opened get them.
close STDOUT;
close STDERR;

my $input = '';
my $output = '';
my $started = '';    # replies that wait for others
my %id_of;           # pid => id of each command that runs
my $has_ended = 0;   # a process has ended since the last call of reap
my %markers;         # of the attempts that have not ended
my @prepared;        # commands of a group, before the first of them starts
my $path_seen = '';  # the PATH of the last command that was named without a folder
my @path_folders;    # its folders, each with a slash

# The program decides when its commands end: signals to the whole process group or service have no effect here.
# Handlers, unlike ignored signals, are not inherited by commands.
$SIG{$_} = sub { } for qw(TERM INT HUP QUIT PIPE);
$SIG{CHLD} = sub { $has_ended = 1 };
# Orphans become children of this process, which therefore knows whether there are any.
my $adopts = $children && syscall($PRCTL, $PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
my $watched = '';
vec($watched, fileno $requests, 1) = 1;
syswrite $replies, "ready\n";
while (1) {
    my $ready = $watched;
    my $wait_s = $started ne '' ? $START_S : %id_of ? $POLL_S : undef;
    my $count = select $ready, undef, undef, $has_ended ? 0 : $wait_s;
    report_started();
    read_requests() if $count > 0;
    reap();
    reply();
}

sub reply {
    while ($output ne '') {
        my $written = syswrite $replies, $output;
        if (defined $written) { substr $output, 0, $written, '' }
        # Otherwise the program has ended, which the next read of requests reports.
        elsif ($! != $EINTR) { $output = '' }
    }
}

sub read_requests {
    sysread($requests, $input, $READ_BYTES, length $input) or leave();
    my $from = 0;
    while ((my $line_end = index $input, "\n", $from) >= 0) {
        my $bytes = substr $input, $from, $line_end - $from;
        last if length($input) < $line_end + 1 + $bytes;
        my @fields = split /\0/, substr($input, $line_end + 1, $bytes), -1;
        my $kind = shift @fields;
        $from = $line_end + 1 + $bytes;
        if ($kind eq 'launch') { prepare(@fields) }
        elsif ($kind eq 'forget') { delete $markers{ $fields[0] } }
        else {
            launch_prepared();
            if ($kind eq 'kill-user') { kill_user(@fields) }
            else { make_pipes(@fields) }
        }
    }
    substr $input, 0, $from, '';
    launch_prepared();
}

# `uid` and `gid` are empty if the command keeps those of this process.
sub prepare {
    my ($id, $marker, $uid, $gid, $folder, $stdout, $stderr, $words, @command) = @_;
    $markers{$marker} = 1;
    my $path = $command[0] =~ m{/} ? $command[0] : find_program(@command[0, $words .. $#command]);
    my $arguments = pack 'p*', @command[0 .. $words - 1], undef;
    my $environment = pack 'p*', @command[$words .. $#command], undef;
    my $groups = $gid eq '' ? undef : pack 'L', $gid;
    my @strings = ($stdout, $stderr, $folder, $path, $arguments, $environment, $groups);
    # Addresses, because `syscall` would copy the strings in the new process.
    my @addresses = unpack 'J*', pack 'p*', @strings;
    $_ = $_ eq '' ? -1 : $_ + 0 for $uid, $gid;
    push @prepared, [$id, $words, \@command, \@strings, $uid, $gid, @addresses];
}

# Searches PATH, which is cheaper here than in the new process. Without a path execve fails, and Perl searches again.
sub find_program {
    my ($name, @environment) = @_;
    my ($variable) = grep { substr($_, 0, 5) eq 'PATH=' } @environment;
    return undef unless defined $variable;
    if ($variable ne $path_seen) {
        $path_seen = $variable;
        @path_folders = map { $_ eq '' ? './' : "$_/" } split /:/, substr($path_seen, 5), -1;
    }
    for my $folder (@path_folders) {
        # The working folder of the command is another one than that of this process.
        return undef unless substr($folder, 0, 1) eq '/';
        if (-e "$folder$name") {
            next if -d _;
            # Perhaps its user may execute it.
            return -x _ ? "$folder$name" : undef;
        }
        return undef unless $! == $ENOENT || $! == $ENOTDIR;
    }
    return undef;
}

# Little else may happen between two forks.
sub launch_prepared {
    my @pids = (-1) x @prepared;
    my @errors = (0) x @prepared;
    for my $at (0 .. $#prepared) {
        my (
            $uid, $gid, $stdout_at, $stderr_at, $folder_at, $path_at, $arguments_at, $environment_at, $groups_at
        ) = @{ $prepared[$at] }[4 .. 12];
        # The pipes are descriptors 1 and 2. Without a reader, opening them fails instead of blocking.
        syscall($OPENAT, $AT_FDCWD, $stdout_at, $O_WRONLY | $O_NONBLOCK) == 1
            && syscall($OPENAT, $AT_FDCWD, $stderr_at, $O_WRONLY | $O_NONBLOCK) == 2
            && syscall($FCNTL, 1, $F_SETFL, 0) == 0
            && syscall($FCNTL, 2, $F_SETFL, 0) == 0
            and $pids[$at] = syscall($CLONE, $SIGCHLD, 0, 0, 0, 0)
            || (syscall($SETSID), ($groups_at == 0 || syscall($SETGROUPS, 1, $groups_at) == 0)
                && syscall($SETRESGID, $gid, $gid, $gid) == 0
                && syscall($SETRESUID, $uid, $uid, $uid) == 0
                && syscall($CHDIR, $folder_at) == 0
                ? (syscall($EXECVE, $path_at, $arguments_at, $environment_at), $NOT_EXECUTED)
                : $NOT_READY);
        if ($pids[$at] <= 0) {
            $errors[$at] = $! + 0;
            fail($pids[$at], $errors[$at], @{ $prepared[$at] }[0 .. 2]) if $pids[$at] < -1;
        }
        syscall $CLOSE, 1;
        syscall $CLOSE, 2;
    }
    for my $command (@prepared) {
        my ($id, $pid, $error) = ($command->[0], shift @pids, shift @errors);
        if ($pid > 0) {
            $id_of{$pid} = $id;
            $started .= "started $id $pid\n";
        }
        else { $output .= "failed $id $error\n" }
    }
    @prepared = ();
}

# Ends the new process, which could not execute its program.
sub fail {
    my ($state, $error, $id, $words, $command) = @_;
    if ($state == $NOT_EXECUTED) {
        %ENV = map { split /=/, $_, 2 } @$command[$words .. $#$command];
        exec { $command->[0] } @$command[0 .. $words - 1];
        $error = $! + 0;
    }
    syswrite $replies, "failed $id $error\n";
    exit 127;
}

# Sends one signal to all processes of a user; see killAsUser in client.ts.
sub kill_user {
    my ($id, $uid, $gid) = @_;
    my $pid = fork;
    return $output .= join(' ', 'failed', $id, $! + 0) . "\n" unless defined $pid;
    if ($pid == 0) {
        change_user($uid, $gid) or exit 1;
        kill 'KILL', -1;
        exit 0;
    }
    $id_of{$pid} = $id;
}

# Named pipes that commands of every user can open; the mode in the call is subject to the umask.
sub make_pipes {
    my ($id, @paths) = @_;
    my $made = 0;
    for my $path (@paths) {
        last unless syscall($MKNODAT, $AT_FDCWD, $path, $S_IFIFO | $FOR_ALL, 0) == 0 && chmod $FOR_ALL, $path;
        $made += 1;
    }
    $output .= $made == @paths ? "ended $id 0 0 0\n" : join(' ', 'failed', $id, $! + 0) . "\n";
}

sub change_user {
    my $uid = $_[0] + 0;
    my $gid = $_[1] + 0;
    return
           syscall($SETGROUPS, 1, pack 'L', $gid) == 0
        && syscall($SETRESGID, $gid, $gid, $gid) == 0
        && syscall($SETRESUID, $uid, $uid, $uid) == 0;
}

sub report_started {
    $output .= $started;
    $started = '';
}

sub reap {
    my @ended;
    $has_ended = 0;
    while ((my $pid = waitpid -1, $WNOHANG) > 0) {
        my $id = delete $id_of{$pid};
        push @ended, join ' ', 'ended', $id, $? >> 8, $? & 127 if defined $id;
    }
    return unless @ended;
    report_started();
    my $orphans = has_orphans();
    $output .= "$_ $orphans\n" for @ended;
}

# Whether this process has children besides the commands that run. Only this process reaps them: none can be missing in
# the list because another one disappears while it is read.
sub has_orphans {
    return 1 unless $adopts;
    sysseek $children, 0, 0;
    my $list = '';
    1 while sysread $children, $list, $READ_BYTES, length $list;
    exists $id_of{$_} or return 1 for split ' ', $list;
    return 0;
}

# The program has ended, for whatever reason: kills its commands and exits.
sub leave {
    # One that was just forked does not lead its group yet.
    kill 'KILL', -$_, $_ for keys %id_of;
    my $ours = join '|', map { quotemeta } keys %markers;
    for (1 .. $MOST_SWEEPS) {
        last if $ours eq '' or not sweep(qr/(?:\A|\0)SCANFARM_MARKER=(?:$ours)#/);
        select undef, undef, undef, $SWEEP_S;
    }
    if (opendir my $pipes, $pipe_folder) {
        unlink map { "$pipe_folder/$_" } readdir $pipes;
        rmdir $pipe_folder;
    }
    exit 0;
}

# Kills the processes that have one of our markers. Returns their number, plus the processes that do not show their
# environment yet.
sub sweep {
    my ($ours) = @_;
    opendir my $processes, '/proc' or return 0;
    my $found = 0;
    for my $pid (grep { /\A\d+\z/ } readdir $processes) {
        my $environment = content("/proc/$pid/environ");
        if ($environment eq '') { $found += is_starting($pid) }
        elsif ($environment =~ $ours) { $found += kill 'KILL', $pid }
    }
    return $found;
}

# Whether the process is in the middle of an exec; see hasMarker in process-table.ts.
sub is_starting {
    my ($pid) = @_;
    my ($state, @fields) = split / /, content("/proc/$pid/stat") =~ s/.*\) //sr;
    return 0 if not defined $state or $state eq 'Z' or $fields[5] & $KERNEL_THREAD;
    return 1 if $fields[22] eq '0';
    return content("/proc/$pid/cmdline") eq '' || content("/proc/$pid/environ") ne '' ? 1 : 0;
}

sub content {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/;
    return <$file> // '';
}
