"""Words too common to ask for: the closed classes of each language, by ISO 639-1 code.

The lists of da de en es fr it nl no pt ru sv and tr are those of the Snowball project (BSD
licence), with question words added and, for English, single letters taken out: `vitamin d`.
The others hold the commonest function words. Nouns and verbs of content are in none of them.
"""

from __future__ import annotations

from functools import cache

_LISTS = {
    "ar": """
        أن أنا أنت أو أي أين إذا إلى إن اذا التي الذي الذين الى ان انا او بعد بعض به بها بين
        تلك ثم حتى حيث ذلك على عليه عليها عن عند غير في فيه فيها قبل قد كان كانت كل كما كيف
        لا لقد لكن لم لماذا لن له لها ما ماذا متى مع من منه منها نحن هذا هذه هل هم هن هو هي
        و يكون
    """,
    "bg": """
        а аз ако ала без беше би бил била били било ви вие все всеки всички във въпреки
        върху г ги го да дали до докато дори е един една едно ето за защо защото и из или им
        има имат й как какво както какъв като кога когато което които кой който която къде
        към ли ме между мен ми много може му на над не него нещо нея ни ние никой но някои
        някой няколко няма от още по повече под поне после почти пред през при пък с са сам
        само се си след сме според сте съм със също т така там те тези ти то това тогава
        този той тя тях у че чрез ще я
    """,
    "ca": """
        a així això al als altra altre altres amb aquell aquella aquelles aquells aquest
        aquesta aquestes aquests aquí com de del dels des doncs el ella elles ells els em en
        encara ens entre era eren estan està et ets fa fer fins fou ha han havia he hem hi
        ho i jo la les li llavors lo mentre meu meva molt molta molts més ni no nosaltres o
        on pel pels per perquè però poc qual quan quant que qui quin quina què se sense ser
        seu seus seva si sobre som sota són també tan te tot tota tots tu un una unes uns us
        va van vosaltres és
    """,
    "cs": """
        a aby ale ani aniž ano až bez bude budem budeš budou byl byla byli bylo byly být co
        což další do ho i jak jako je jeho jej jejich její jen jestli jestliže ještě ji jiné
        již jsem jseš jsi jsme jsou jste já jí k kam každý kde kdo kdy když ke která které
        který kteří ku mají mezi mi mně my má mám máme máte mé mít mě můj může na nad naše
        ne nebo není než nic nich nám námi nás náš ní ním o od on ona oni ono pak po pod
        podle pokud pouze pro proto protože proč právě před přede přes při s se si sice
        skoro své svůj ta tak také takže tam tato te tedy ten tento ti to tohle toho tohoto
        tom tomto tomu tu tuto ty tyto této tím tímto tě u už v ve vy vám vás váš však vše
        všechno všichni z za zda zde ze či že
    """,
    "da": """
        af alle alt anden at blev blevet blive bliver både da de dem den denne der deres det
        dette dig din dine dit dog du efter ej eller en end er et for fordi fra før ham han
        hans har havde have hende hendes her hun hvad hvem hver hvilke hvilken hvilket hvis
        hvor hvordan hvorfor hvornår i ikke ind ingen intet ja jeg jo kan kom kun kunne man
        med meget mellem men mig min mine mit mod må måske ned nogen noget nogle nu når og
        også om op os over på samme selv selvom sig sin sine sit skal skulle som så sådan
        sådanne sådant til ud uden under var ved vi vil ville vor vores vort være været
    """,
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen
        anderer anderes anderm andern anderr anders auch auf aus bei bin bis bist da damit
        dann das dass dasselbe dazu dein deine deinem deinen deiner deines dem demselben den
        denn denselben der derer derselbe derselben des desselben dessen dich die dies diese
        dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch ein eine einem
        einen einer eines einig einige einigem einigen einiger einiges einmal er es etwas
        euch euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat hatte
        hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in
        indem ins ist ja jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt
        kann kein keine keinem keinen keiner keines können könnte machen man manche manchem
        manchen mancher manches mein meine meinem meinen meiner meines mich mir mit muss
        musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen
        seiner seines selbst sich sie sind so solche solchem solchen solcher solches soll
        sollte sondern sonst um und uns unser unsere unserem unseren unseres unter viel vom
        von vor wann war waren warst warum was weg weil weiter welche welchem welchen
        welcher welches wenn wer werde werden weshalb wie wieder wieso will wir wird wirst
        wo woher wohin wollen wollte worden wurde wurden während würde würden zu zum zur
        zwar zwischen über
    """,
    "el": """
        ένα ένασ ή ήταν ίσωσ αλλά αν αντί από αυτά αυτέσ αυτή αυτοί αυτούσ αυτό αυτόσ αυτών
        για γιατί δε δεν εάν είμαι είμαστε είναι είσαι είστε εκείνη εκείνο εκείνοσ ενώ επί η
        θα κ και κατά κι μα μασ με μετά μη μην μια μου να ο οι παρά ποια ποιεσ ποιο ποιοι
        ποιοσ που πού πωσ πώσ σασ σε σου στα στη στην στισ στο στον στουσ τα την τησ τι τισ
        το τον του τουσ των τότε ωσ όμωσ όπωσ όσο όταν ότι
    """,
    "en": """
        a about above after again against all also am an and any are aren't as at be because
        been before being below between both but by can can't cannot could couldn't did
        didn't do does doesn't doing don't down during each few for from further had hadn't
        has hasn't have haven't having he he'd he'll he's her here here's hers herself him
        himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself
        just let's me might mightn't more most must mustn't my myself no nor not now of off
        on once only or other our ours ourselves out over same shall shan't she she'd she'll
        she's should should've shouldn't so some such than that that'll that's the their
        theirs them themselves then there there's these they they'd they'll they're they've
        this those through to too under until up upon very was wasn't we we'd we'll we're
        we've were weren't what what's when when's where where's whether which while who
        who's whom whose why will with won't would wouldn't you you'd you'll you're you've
        your yours yourself yourselves
    """,
    "es": """
        a al algo algunas algunos ante antes como con contra cual cuando cuál cuáles cuándo
        cómo de del desde donde durante dónde e el ella ellas ellos en entre era erais eran
        eras eres es esa esas ese eso esos esta estaba estabais estaban estabas estad estada
        estadas estado estados estamos estando estar estaremos estará estarán estarás estaré
        estaréis estaría estaríais estaríamos estarían estarías estas este estemos esto
        estos estoy estuve estuviera estuvierais estuvieran estuvieras estuvieron estuviese
        estuvieseis estuviesen estuvieses estuvimos estuviste estuvisteis estuviéramos
        estuviésemos estuvo está estábamos estáis están estás esté estéis estén estés fue
        fuera fuerais fueran fueras fueron fuese fueseis fuesen fueses fui fuimos fuiste
        fuisteis fuéramos fuésemos ha habida habidas habido habidos habiendo habremos habrá
        habrán habrás habré habréis habría habríais habríamos habrían habrías habéis había
        habíais habíamos habían habías han has hasta hay haya hayamos hayan hayas hayáis he
        hemos hube hubiera hubierais hubieran hubieras hubieron hubiese hubieseis hubiesen
        hubieses hubimos hubiste hubisteis hubiéramos hubiésemos hubo la las le les lo los
        me mi mis mucho muchos muy más mí mía mías mío míos nada ni no nos nosotras nosotros
        nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por
        porque que quien quienes qué se sea seamos sean seas sentid sentida sentidas sentido
        sentidos seremos será serán serás seré seréis sería seríais seríamos serían serías
        seáis siente sin sintiendo sobre sois somos son soy su sus suya suyas suyo suyos sí
        también tanto te tendremos tendrá tendrán tendrás tendré tendréis tendría tendríais
        tendríamos tendrían tendrías tened tenemos tenga tengamos tengan tengas tengo
        tengáis tenida tenidas tenido tenidos teniendo tenéis tenía teníais teníamos tenían
        tenías ti tiene tienen tienes todo todos tu tus tuve tuviera tuvierais tuvieran
        tuvieras tuvieron tuviese tuvieseis tuviesen tuvieses tuvimos tuviste tuvisteis
        tuviéramos tuviésemos tuvo tuya tuyas tuyo tuyos tú un una uno unos vosotras
        vosotros vuestra vuestras vuestro vuestros y ya yo él éramos
    """,
    "fa": """
        آن آنها از است اما او اگر این با باشد باید بر برای به بود بین تا تو در دیگر را شد
        شده شما ما من می نیز نیست هر هست هم همه هیچ و پس چرا چه چگونه کجا کرد کرده که کی یا
        یک
    """,
    "fi": """
        ei eivät emme en et ette että he heidän heille heillä heitä hän hänelle hänellä
        hänen hänet häntä itse ja jo johon joiden joissa joista joita joka jolla jolle jonka
        jos jossa josta jota jotka kanssa kenellä kenen ketkä ketä koska kuin kuka kun me
        meidän meille meillä meitä mihin mikä mille millä minkä minua minulla minulle
        minulta minun minussa minusta minut minuun minä missä mistä mitkä mitä mukaan mutta
        myös ne niiden niihin niille niillä niin niissä niistä niitä nyt näiden näihin
        näillä näissä näistä näitä nämä ole olemme olen olet olette oli olimme olin olisi
        olisimme olisin olisit olisitte olisivat olit olitte olivat olla olleet ollut on
        ovat poikki se sekä sen siihen siinä siitä siksi sille sillä siltä sinua sinulla
        sinulle sinun sinut sinä sitten sitä tai te teidän teille teillä teitä tuo tuohon
        tuolla tuon tuossa tuosta tuota tähän tälle tällä tältä tämä tämän tänä tässä tästä
        tätä vaan vai vaikka vain yli
    """,
    "fr": """
        ai aie aient aies ait as au aura aurai auraient aurais aurait auras aurez auriez
        aurions aurons auront aussi aux avaient avais avait avec avez aviez avions avoir
        avons ayant ayante ayantes ayants ayez ayons ce cela ces cet cette comme comment
        dans de des donc dont du elle elles en es est et eu eue eues eurent eus eusse
        eussent eusses eussiez eussions eut eux eûmes eût eûtes fait furent fus fusse
        fussent fusses fussiez fussions fut fûmes fût fûtes il ils je la le les leur lui ma
        mais me mes moi mon même ne nos notre nous on ont ou où par pas plus pour pourquoi
        qu quand que quel quelle quelles quels qui quoi sa se sera serai seraient serais
        serait seras serez seriez serions serons seront ses si soient sois soit sommes son
        sont soyez soyons suis sur ta te tes toi ton très tu un une vos votre vous y à ça
        étaient étais était étant étante étantes étants étiez étions été étée étées étés
        êtes être
    """,
    "he": """
        אבל או אותה אותו אותי אותם אז אחר אחרי איזה איך אין איפה אך אל אלה אלו אם אנחנו אני
        אף אצל אשר את אתה אתם בגלל בין בלי גם הוא היא היה היו הייתה הם הן הנה זאת זה זו יותר
        יש כאן כאשר כי כך כל כמו כן לא לה להם לו לי לכן למה לפני מאוד מה מי מן מתי עד על עם
        פה רק שוב של שלה שלהם שלו שלי שלך שלנו שם
    """,
    "hu": """
        a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek amelyet amelynek ami
        amikor amit amíg annak arra arról az azok azon azonban azt aztán azután azzal azért
        be belül bár csak de e ebben egy egyik ehhez ekkor el ellen előtt ennek erre ez ezek
        ezen ezt ezzel ezért fel felé hanem hiszen hogy hogyan hát ide illetve ilyen itt ki
        kívül között közül le lesz lett ma maga magát majd meg mellett mely melyek mert mi
        mikor milyen minden mint mintha mit mivel miért most már más még míg nagyon ne neki
        nem nincs néha nélkül oda olyan ott pedig rá s saját se sem semmi szerint te tehát
        több után vagy vagyis vagyok valaki valami van vannak vele viszont volna volt voltak
        voltam által át én és így össze úgy ő ők őket
    """,
    "id": """
        ada adalah agar akan aku anda antara apa apakah atas atau bagaimana bagi bahwa
        banyak beberapa bisa bukan dalam dan dapat dari dengan di dia hanya harus hingga ia
        ini itu jika juga kami kamu karena ke kepada ketika kita lagi lain lebih maka masih
        mengapa mereka namun oleh pada para pun saat saja sampai sangat saya sebagai sebuah
        secara sedang sehingga sejak sekarang seperti serta setelah setiap siapa suatu sudah
        tanpa telah tentang tersebut tetapi tidak untuk yang
    """,
    "it": """
        a abbia abbiamo abbiano abbiate ad agl agli ai al all alla alle allo anche avemmo
        avendo avesse avessero avessi avessimo aveste avesti avete aveva avevamo avevano
        avevate avevi avevo avrai avranno avrebbe avrebbero avrei avremmo avremo avreste
        avresti avrete avrà avrò avuta avute avuti avuto c che chi ci coi col come con
        contro cui da dagl dagli dai dal dall dalla dalle dallo degl degli dei del dell
        della delle dello di dov dove e ebbe ebbero ebbi ed era erano eravamo eravate eri
        ero essendo faccia facciamo facciano facciate faccio facemmo facendo facesse
        facessero facessi facessimo faceste facesti faceva facevamo facevano facevate facevi
        facevo fai fanno farai faranno farebbe farebbero farei faremmo faremo fareste
        faresti farete farà farò fece fecero feci fosse fossero fossi fossimo foste fosti fu
        fui fummo furono gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia
        mie miei mio ne negl negli nei nel nell nella nelle nello noi non nostra nostre
        nostri nostro o per perché più quale quanta quante quanti quanto quella quelle
        quelli quello questa queste questi questo sarai saranno sarebbe sarebbero sarei
        saremmo saremo sareste saresti sarete sarà sarò se sei si sia siamo siano siate
        siete sono sta stai stando stanno starai staranno starebbe starebbero starei
        staremmo staremo stareste staresti starete starà starò stava stavamo stavano stavate
        stavi stavo stemmo stesse stessero stessi stessimo steste stesti stette stettero
        stetti stia stiamo stiano stiate sto su sua sue sugl sugli sui sul sull sulla sulle
        sullo suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra
        vostre vostri vostro è
    """,
    "nl": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen
        door dus een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij
        hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet
        na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen
        tot u uit uw van veel voor waar waarom wanneer want waren was wat we welke werd
        wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
    """,
    "no": """
        alle at av bare begge ble blei bli blir blitt både båe da de deg dei deim deira
        deires dem den denne der dere deres det dette di din disse ditt du dykk dykkar då eg
        ein eit eitt eller elles en enn er et ett etter for fordi fra før ha hadde han hans
        har hennar henne hennes her hjå ho hoe honom hoss hossen hun hva hvem hver hvilke
        hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen ingi inkje inn inni ja jeg kan
        kom korleis korso kun kunne kva kvar kvarhelst kven kvi kvifor man mange me med
        medan meg meget mellom men mi min mine mitt mot mykje ned no noe noen noka noko
        nokon nokor nokre nå når og også om opp oss over på samme seg selv si sia sidan
        siden sin sine sitt sjøl skal skulle slik so som somme somt så sånn til um upp ut
        uten var vart varte ved vere verte vi vil ville vore vors vort vår være vært å
    """,
    "pl": """
        a aby aczkolwiek albo ale ależ ani aż bardziej bardzo bez bo bowiem by byli bym
        bynajmniej być był była było były będzie będą cali cała cały choć ci ciebie cię co
        cokolwiek coraz coś czasami czasem czemu czy czyli często dla dlaczego dlatego do
        dokąd dość dwoje gdy gdyby gdyż gdzie gdziekolwiek gdzieś go i ich ile im inna inne
        inny innych iż ja jak jakaś jakby jaki jakichś jakie jakiś jakiż jakkolwiek jako
        jakoś je jeden jedna jednak jednakże jedno jednym jedynie jego jej jemu jest jestem
        jeszcze jeśli jeżeli już ją każdy kiedy kilka kilku kimś kto ktokolwiek ktoś która
        które którego której który których którym którzy ku lecz lub ma mają mam mamy mało
        mi miał mimo między mnie mną mogą moi moim moja moje może można mu my mój na nad nam
        nami nas nasi nasz nasza nasze naszego naszych natomiast natychmiast nawet nic nich
        nie niech niego niej niemu nigdy nim nimi nią niż no o obok od ok około on ona one
        oni ono oraz oto owszem po pod pomimo ponad ponieważ poza prawie przecież przed
        przede przedtem przez przy również sam sama się skąd sobie sobą swoje swój są ta tak
        taka taki takich takie także tam te tego tej temu ten teraz też to tobie tobą toteż
        trzeba tu tutaj twoi twoim twoja twoje twym twój ty tych tylko tym tę u w wam wami
        was wasi wasz wasza wasze we według wie wiele wielu więc więcej wszyscy wszystkich
        wszystkie wszystkim wszystko wtedy wy właśnie wśród z za zapewne zawsze zaś ze znowu
        znów został zł żaden żadna żadne żadnych że żeby
    """,
    "pt": """
        a ao aos aquela aquelas aquele aqueles aquilo as até com como da das de dela delas
        dele deles depois do dos e ela elas ele eles em entre era eram essa essas esse esses
        esta estamos estar estas estava estavam este esteja estejam estejamos estes esteve
        estive estivemos estiver estivera estiveram estiverem estivermos estivesse
        estivessem estivéramos estivéssemos estou está estávamos estão eu foi fomos for fora
        foram forem formos fosse fossem fui fôramos fôssemos haja hajam hajamos havemos
        haver hei houve houvemos houver houvera houveram houverei houverem houveremos
        houveria houveriam houvermos houverá houverão houveríamos houvesse houvessem
        houvéramos houvéssemos há hão isso isto já lhe lhes mais mas me mesmo meu meus minha
        minhas muito na nas nem no nos nossa nossas nosso nossos num numa não nós o onde os
        ou para pela pelas pelo pelos por porque qual quando que quem quê se seja sejam
        sejamos sem ser serei seremos seria seriam será serão seríamos seu seus somos sou
        sua suas são só também te tem temos tenha tenham tenhamos tenho terei teremos teria
        teriam terá terão teríamos teu teus teve tinha tinham tive tivemos tiver tivera
        tiveram tiverem tivermos tivesse tivessem tivéramos tivéssemos tu tua tuas tém
        tínhamos um uma você vocês vos à às é éramos
    """,
    "ro": """
        acea aceasta această aceea acei aceia acel acela acele acelea acest acesta aceste
        acestea acestor acestui aceşti ai aici al ale alta alte altul am ar are as asta
        astfel asupra atunci atât au avea avem aveţi aveți aș ca care ce cea ceea cei cel
        cele celor ceva chiar ci cine cu cum cumva când cât că cărei căror cărui către da
        dacă dar dat de deci deja despre deși din dintr dintre doar după ea ei el ele era
        este eu face fi fie fiecare fost fără iar la le li lor lui mai mea mei mele meu mi
        mult multe mulți ne nici nimic niște noastră noi nostru nu numai o ori orice oricum
        pe pentru peste poate prea prin sa sale sau se si spre sub sunt să său te ti toate
        toată tot toți tu un una unde unei unele unii unor unui va vi voi vom vor vostru vă
        îi îl îmi în înainte încât între își îți și
    """,
    "ru": """
        а без более больше будет будто бы был была были было быть в вам вас вдруг ведь во
        вот впрочем все всегда всего всех всю вы где да даже два для до другой его ее ей ему
        если есть еще ж же за зачем здесь и из или им иногда их к как какая какие каких
        какой когда конечно кто куда ли лучше между меня мне много может можно мой моя мы на
        над надо наконец нас не него нее ней нельзя нет ни нибудь никогда ним них ничего но
        ну о об один он она они опять от перед по под после потом потому почему почти при
        про раз разве с сам свою себе себя сейчас со совсем так такой там тебя тем теперь то
        тогда того тоже только том тот три тут ты у уж уже хорошо хоть чего чем через что
        чтоб чтобы чуть эти это этого этой этом этот эту я
    """,
    "sv": """
        alla allt att av blev bli blir blivit de dem den denna deras dess dessa det detta
        dig din dina ditt du där då efter ej eller en er era ert ett från för ha hade han
        hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan kunde man
        med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss
        på samma sedan sig sin sina sitta själv skulle som så sådan sådana sådant till under
        upp ut utan vad var vara varför varit varje vars vart vem vi vid vilka vilkas vilken
        vilket vår våra vårt än är åt över
    """,
    "tr": """
        acaba ama ancak artık aslında ayrıca az bana bazen bazı bazıları belki ben benden
        beni benim beri bile biri birkaç birşey biz bize bizi bizim bu buna bunda bundan
        bunlar bunlara bunlardan bunları bunların bunu bunun burada böyle böylece da daha
        dahi de defa değil diye diğer dolayı dolayısıyla en eğer fakat gibi göre hakkında
        hala halde halen hangi hatta hem hemen henüz hep hepsi her herhangi herkes herkesin
        hiç hiçbir hiçbiri ile ilgili ise itibaren itibariyle için işte kadar karşın kendi
        kendilerine kendini kendisi kendisine kendisini kez ki kim kimden kime kimi kimler
        kimse lakin madem mi mu mü mı nasıl ne neden nedir nerde nerede nereden nereye niye
        niçin o ona ondan onlar onlara onlardan onları onların onu onun oysa pek rağmen
        sadece sanki sen senden seni senin siz sizden sizi sizin ta tarafından tüm tümü ve
        veya veyahut ya yani yerine yine yoksa zaten zira çok çünkü üzere şey şu şuna şunda
        şundan şunlar şunlara şunlardan şunu şunun şöyle
    """,
    "uk": """
        а аби або адже але б без би бо був була були було бути біля в вам вас ваш вже ви
        вона вони воно все всі втім від він де для до ж з за зі й його йому ким кого коли
        кому крім куди лише майже мене мені ми мною може можна моя моє мій на навіть над нам
        нас наш не нею неї ним них ну ні ніж нічого о об один по поки потім при про проти
        під після свою себе собі та так такий також там те тебе теж тепер ти тим тих то тобі
        того той тому ту тут ті тільки у хоч хто це цей цим цих цього цьому цю ця ці через
        чи чого чому ще що щоб як яка який якого якої якщо які є і із їй їх її
    """,
    "vi": """
        ai bạn bị bởi cho chúng các có cũng cả của dưới gì hay hoặc họ khi không là lại mà
        một người như nhưng những nào này nó nếu phải ra rất rồi sao sẽ ta theo thì thế
        trong trên tôi từ và vào vì về với đang đã đó được đến để ở
    """,
}

LANGUAGES = tuple(_LISTS)


@cache
def stop_words(language: str) -> frozenset[str]:
    """In lower case, with a plain apostrophe; empty for a language that has no list."""
    return frozenset(_LISTS.get(language, "").split())
